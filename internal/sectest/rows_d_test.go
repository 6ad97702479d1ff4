//go:build sectest

package sectest

var rowsD = []row{
	{id: "D1", title: "Codex: core.fsmonitor runs on metadata collection", owed: "issue 5: not written yet"},
	{id: "D2", title: "Hermes: same", owed: "issue 5: not written yet"},
	{id: "D3", title: "any: repo config runs helpers", owed: "issue 5: not written yet"},
	{id: "D4", title: "Repomix: --upload-pack via branch arg", owed: "issue 5: not written yet"},
	{id: "D5", title: "go-git: arg injection through URL on file transport", owed: "issue 5: not written yet"},
	{id: "D6", title: "OpenHands: diff handler path to shell", owed: "issue 5: not written yet"},
	{id: "D7", title: "Claude Code: parser disagrees with git on host", owed: "issue 5: not written yet"},
}
