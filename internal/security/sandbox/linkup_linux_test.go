package sandbox

import "testing"

// TestLinkUpHidesNothing: a link by the name of a secret that leads to the
// workspace, or above it, takes no guard away.
func TestLinkUpHidesNothing(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range backends(t) {
		for _, to := range []string{".", "..", "/", "../.."} {
			t.Run(backend.Name()+" "+to, func(t *testing.T) {
				w := newTestEnv(t, backend)
				w.run(w.profile, "ln -s "+to+" src/.env; ln -s "+to+" .env")
				o := w.run(w.profile, `echo bad > .git/config; mkdir -p .git/hooks; echo bad > .git/hooks/pre-commit; echo bad > .mcp.json; echo bad > .vscode/tasks.json; true`)
				if damage := w.damage(o); len(damage) > 0 {
					t.Errorf("%q\n%s", damage, o.output)
				}
			})
		}
	}
}
