//go:build sectest

package httpapi_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// Without a defense, the test of it fails.
func TestDefensesMatter(t *testing.T) {
	t.Parallel()
	defensetest.NoticedBy(t, "TestRoutesAreTheTenantsOwn", "access.tenant", "store.tenant")
	defensetest.NoticedBy(t, "TestCookies", "web.csrf", "web.listed", "web.both")
	defensetest.NoticedBy(t, "TestSignIn", "web.cookie", "web.policy", "web.prefetch")
	defensetest.NoticedBy(t, "TestFormsOfOthers", "web.form")
	defensetest.NoticedBy(t, "TestRoutesAreGuarded", "server.scope")
	defensetest.NoticedBy(t, "TestOnlyTheOperatorManages", "manage.operator")
	defensetest.NoticedBy(t, "TestKeysAreNotShown", "manage.error")
	defensetest.NoticedBy(t, "TestReadersDoNotEditPlans", "mission.owner")
	defensetest.NoticedBy(t, "TestReportsRunNothing", "mission.policy")
}
