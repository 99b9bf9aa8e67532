# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Parts that a distribution may leave out. Each is behind folders of its own;
# what is left out is refused as a kernel without it refuses it (doc/features.md).
# The code sees UROCE_WITH_<PART> as 0 or 1.
option(UROCE_WITH_UMAD "/dev/infiniband/umadN: management datagrams" ON)
option(UROCE_WITH_ROCE_V1 "uroced --roce-v1: RoCEv1 beside RoCEv2" ON)
option(UROCE_WITH_RAW_PACKET
  "uroced --raw-ethernet: raw packet queue pairs, flow rules, RSS, counters" ON)
set(UROCE_PARTS UMAD ROCE_V1 RAW_PACKET)
foreach(part ${UROCE_PARTS})
  add_compile_definitions(UROCE_WITH_${part}=$<BOOL:${UROCE_WITH_${part}}>)
endforeach()

# Without the part, removes those items of the list that match the regex:
# sources of its folder, names of its tests. tests/arch/parts.py does the same with
# the objects of a build, by the property.
macro(ur_part_of part list regex)
  set_property(GLOBAL APPEND PROPERTY UROCE_PARTS "${part}=${regex}")
  if(NOT UROCE_WITH_${part})
    list(FILTER ${list} EXCLUDE REGEX "${regex}")
  endif()
endmacro()
