package api

import (
	"net/http"
	"testing"
)

// scopes are the scopes that the routes need. A new route is added here, so that somebody has decided
// who may use it. What a prompt, an answer or a mission may do beyond that depends on its contents: see
// internal/service/access.
var scopes = map[string]Scope{
	"createSession": ScopeRun, "importSession": ScopeRun, "renameSession": ScopeRun, "shareSession": ScopeRun, "deleteSession": ScopeRun,
	"sendPrompt": ScopeRun, "rewordPrompt": ScopeRun, "withdrawPrompt": ScopeRun, "answer": ScopeRun, "cancelSession": ScopeRun,
	"resumeSession": ScopeRun, "compactSession": ScopeRun, "runCommand": ScopeRun, "undoSession": ScopeRun, "forkSession": ScopeRun,
	"startMission": ScopeRun, "expandPrompt": ScopeRun,

	"listSessions": ScopeRead, "getSession": ScopeRead, "streamEvents": ScopeRead, "exportSession": ScopeRead, "getDraft": ScopeRead, "listItems": ScopeRead,
	"getItem": ScopeRead, "streamItems": ScopeRead, "streamFeed": ScopeRead, "listAsks": ScopeRead, "getInfo": ScopeRead,
	"listPrompts": ScopeRead, "previewUndo": ScopeRead, "getMission": ScopeRead, "getUsage": ScopeRead, "getProject": ScopeRead,
	"findFiles": ScopeRead, "listModels": ScopeRead, "getOutput": ScopeRead, "getOpenAPI": ScopeRead,

	"streamMission": ScopeRead, "getMissionReport": ScopeRead, "getMissionGate": ScopeRead, "getMissionPlan": ScopeRead,
	"setMissionPlan": ScopeRun, "pauseMission": ScopeRun, "stopMission": ScopeRun, "resumeMission": ScopeRun, "approveMission": ScopeApprove,
	"getDiff": ScopeRead, "listDirectory": ScopeRead, "readFile": ScopeRead,

	"createLink": ScopeRun, "createPasskeyOptions": ScopeRun, "createPasskey": ScopeRun, "revokeDevice": ScopeRun, "listDevices": ScopeRead,

	"trustProject": ScopeAdmin,

	"listProviders": ScopeRead, "getPermissions": ScopeRead, "listExtensions": ScopeRead,
	"getConfig": ScopeAdmin, "setConfigValue": ScopeAdmin, "setKey": ScopeAdmin, "deleteKey": ScopeAdmin, "testKey": ScopeAdmin,
	"addRule": ScopeAdmin, "removeRule": ScopeAdmin, "revokeAnswer": ScopeAdmin, "setServer": ScopeAdmin, "removeServer": ScopeAdmin,
}

func TestEveryRouteHasADeclaredScope(t *testing.T) {
	t.Parallel()
	for _, r := range Routes {
		want, declared := scopes[r.Name]
		switch {
		case !declared:
			t.Errorf("%s %s: decide which scope %s needs, and add it to the table", r.Method, r.Path, r.Name)
		case r.Scope != want || !ScopeAdmin.Covers(r.Scope) || ScopeNone.Covers(r.Scope):
			t.Errorf("%s needs the scope %q, want %q", r.Name, r.Scope, want)
		case r.Method != http.MethodGet && r.Name != "previewUndo" && !r.Scope.Covers(ScopeRun):
			t.Errorf("%s changes something, and needs only the scope %q", r.Name, r.Scope)
		}
	}
	if len(scopes) != len(Routes) {
		t.Errorf("the table has %d routes, there are %d", len(scopes), len(Routes))
	}
}

func TestScopesIncludeEachOther(t *testing.T) {
	t.Parallel()
	order := []Scope{ScopeNone, ScopeRead, ScopeRun, ScopeApprove, ScopeAdmin}
	for i, have := range order {
		for j, need := range order {
			if have.Covers(need) != (i >= j) {
				t.Errorf("%q covers %q: %t", have, need, have.Covers(need))
			}
		}
		if have.Covers("root") || Scope("root").Covers(have) {
			t.Errorf("an unknown scope is comparable to %q", have)
		}
	}
}
