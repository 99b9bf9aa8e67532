#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A test that fails is run once more, by ctest and by pytest: one that passes then
# is flaky, is named at the end of the run and counts as passed. One that fails
# again has failed, and so has one with a sanitizer's report.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) failed=0
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -c 'import pytest' 2>/dev/null || { echo "no pytest"; exit 77; }

expect() { # expect NAME STATUS XML: and on standard input the last lines
	local name=$1 rc=$2 want got
	want=$(cat)
	[ "$rc" = "$3" ] || { failed=1; echo "$name: status $rc, not $3"; }
	# Of how it failed, what comes before pytest's own explanation.
	got=$(tests/summary.py "$4" | grep -E '^flaky|failed once|FAILED|^[0-9]+ passed' |
		sed 's/ + where.*//')
	[ "$got" = "$want" ] && return
	failed=1
	echo "$name:"
	diff <(echo "$want") <(echo "$got")
	cat "$work/log"
}

# Each appends a letter to a file of its own when it runs, and fails unless it has
# that many.
mkdir "$work/py" "$work/ct"
cat >"$work/py/test_it.py" <<-END
	import os
	import pytest

	def run(name, needed, text=""):
	    path = os.path.join("$work", name)
	    with open(path, "a") as f:
	        f.write("x")
	    assert os.path.getsize(path) >= needed, text

	def test_good(): run("py-good", 1)

	@pytest.mark.parametrize("what", ["one", "two two", "[3]"])
	def test_chance(what): run("py-chance" + what, 2 if " " in what else 1)

	@pytest.fixture
	def late():
	    yield
	    run("py-late", 2)

	def test_late_chance(late): pass

	@pytest.mark.skipif("MORE" not in os.environ, reason="not asked for")
	def test_bad(): run("py-bad", 3)

	@pytest.mark.skipif("MORE" not in os.environ, reason="not asked for")
	def test_report(): run("py-report", 2, "ERROR: AddressSanitizer: heap-use-after-free")
END
tests/pytest.sh "$work/py.xml" --rootdir "$work/py" "$work/py" >"$work/log" 2>&1
expect "pytest" $? 0 "$work/py.xml" <<-END
	py: failed once: test_it.test_chance[two two]: AssertionError: assert 1 >= 2
	py: failed once: test_it.test_late_chance: failed on teardown with "AssertionError: assert 1 >= 2
	flaky: test_it.test_chance[two two] (py)
	flaky: test_it.test_late_chance (py)
	5 passed, 0 failed, 2 skipped
END
runs() { wc -c <"$work/$1"; }
[ "$(runs py-good)$(runs 'py-chancetwo two')$(runs py-chanceone)" = 121 ] || {
	failed=1
	echo "not only what failed ran twice"
}
rm -f "$work"/py-*
MORE=1 tests/pytest.sh "$work/py.xml" --rootdir "$work/py" "$work/py" -k "good or bad or report" >"$work/log" 2>&1
expect "pytest, a fault" $? 1 "$work/py.xml" <<-END
	py: FAILED test_it.test_bad: AssertionError: assert 1 >= 3
	py: FAILED test_it.test_report: AssertionError: ERROR: AddressSanitizer: heap-use-after-free assert 1 >= 2
	1 passed, 2 failed, 0 skipped
END
[ "$(runs py-bad)" = 2 ] || { failed=1; echo "a fault did not run twice"; }

run='printf x >>$1; [ $(wc -c <$1) -ge $2 ] || { echo $3; exit 1; }'
# What is left out comes first, and has a number in the second run only.
for each in "bad 3" "report 2 AddressSanitizer:" "good 1" "chance 2"; do
	# shellcheck disable=SC2086  # words
	set -- $each
	echo "add_test($1 sh -c [[$run]] sh \"$work/ct-$1\" $2 ${3:-no})"
done >"$work/ct/CTestTestfile.cmake"
tests/ctest.sh "$work/ct" "$work/ct.xml" -E 'bad|report' >"$work/log" 2>&1
expect "ctest" $? 0 "$work/ct.xml" <<-END
	ct: failed once: chance.chance: no
	flaky: chance.chance (ct)
	2 passed, 0 failed, 0 skipped
END
[ "$(runs ct-good)$(runs ct-chance)" = 12 ] || { failed=1; echo "not only what failed ran twice"; }
rm -f "$work"/ct-*
tests/ctest.sh "$work/ct" "$work/ct.xml" -j2 >"$work/log" 2>&1
expect "ctest, a fault" $? 1 "$work/ct.xml" <<-END
	ct: FAILED bad.bad: no
	ct: FAILED report.report: AddressSanitizer:
	ct: failed once: chance.chance: no
	flaky: chance.chance (ct)
	2 passed, 2 failed, 0 skipped
END

# One that tries all that it can here, and says so, has passed its second run.
cat >"$work/ct/CTestTestfile.cmake" <<-END
	add_test(part sh -c [[printf x >>\$1; [ \$(wc -c <\$1) = 1 ] && { echo no; exit 1; }; echo skipped: all else passed; exit 77]] sh "$work/part")
	set_tests_properties(part PROPERTIES SKIP_RETURN_CODE 77)
	add_test(good true)
END
tests/ctest.sh "$work/ct" "$work/ct.xml" >"$work/log" 2>&1
expect "ctest, a part" $? 0 "$work/ct.xml" <<-END
	ct: failed once: part.part: no
	flaky: part.part (ct)
	2 passed, 0 failed, 0 skipped
END

# Where many fail it is no chance, and nothing runs twice.
for i in $(seq 20); do echo "add_test(t$i sh -c [[$run]] sh \"$work/many-$i\" 2 no)"; done \
	>"$work/ct/CTestTestfile.cmake"
tests/ctest.sh "$work/ct" "$work/ct.xml" >"$work/log" 2>&1 && failed=1
[ "$(runs many-1)" = 1 ] || { failed=1; echo "many failed, and ran again"; }
exit $failed
