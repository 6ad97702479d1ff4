//go:build sectest

package access_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// Without a defense, the test of it fails.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	for defense, test := range map[string]string{
		"access.owner":     "TestEveryMethodIsGuarded",
		"access.always":    "TestNothingIsPermittedForOthers",
		"access.open":      "TestOpenWorkIsTheAdmins",
		"access.run":       "TestPromptsAreCheckedWhenTheyRun",
		"access.answer":    "TestAuthorizeAnswer",
		"access.script":    "TestAuthorize",
		"access.mode":      "TestScopeOfSettings",
		"server.dirs":      "TestRoots",
		"server.settings":  "TestAuthorize",
		"access.import":    "TestImportIsOnesOwn",
		"access.revoked":   "TestRevocation",
		"access.folder":    "TestFoldersAreTheTenantsOwn",
		"access.suspended": "TestSuspension",
		"access.fleet":     "TestTenantsNeedAFleet",
		"access.shared":    "TestTenantsLimits",
		"web.scope":        "TestLinksGiveNoMore",
		"web.family":       "TestLinksGiveNoMore",
		"web.inherit":      "TestLinksGiveNoMore",
		"web.once":         "TestLinks",
		"web.expiry":       "TestLinks",
		"web.kind":         "TestLinks",
		"web.attempts":     "TestAttempts",
		"web.owner":        "TestDevicesAreOnesOwn",
		"passkey.fresh":    "TestPasskeyRegistration",
		"passkey.once":     "TestPasskeyResponses",
		"passkey.counter":  "TestPasskeyResponses",
		"passkey.verified": "TestPasskeyResponses",
	} {
		defensetest.NoticedBy(t, test, defense)
	}
}
