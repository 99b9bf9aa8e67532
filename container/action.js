// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What action.yml runs: once where it stands, and once more after the job's last step,
// which undoes it. The runner gives inputs as INPUT_*, and what was written to
// GITHUB_STATE comes back as STATE_*.
"use strict";
const { spawnSync } = require("child_process");
const { appendFileSync } = require("fs");

const env = { ...process.env };
for (const name of ["NAME", "NETDEV", "DEVICES", "ONLY", "PACKAGES", "HOST"])
	env["UROCE_CI_" + name] = process.env["INPUT_" + name] || "";
const after = process.env.STATE_UROCE;
if (!after)
	appendFileSync(process.env.GITHUB_STATE, "UROCE=started\n");
for (const word of after ? ["stop"] : ["install", "start"]) {
	const done = spawnSync(__dirname + "/setup-ci.sh", [word], { env, stdio: "inherit" });
	if (done.error)
		console.error("uroce: " + done.error.message);
	if (done.status !== 0)
		process.exit(done.status || 1);
}
