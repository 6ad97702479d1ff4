package discover

import (
	"github.com/pawl-dev/pawl"
)

// elixir finds projects of Mix.
func elixir(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("mix.exs")) {
		env := []string{"MIX_ENV=test", "HEX_HOME=.hex"}
		if d.has("mix.lock") {
			deps := d.check("mix-deps", pawl.CheckSetup, "mix.lock", "locks dependencies", "mix", "deps.get", "--check-locked").env(env...)
			deps.Network = []string{"repo.hex.pm"}
			list = append(list, deps)
		}
		list = append(list, d.check("mix-test", pawl.CheckTest, "mix.exs", "declares an Elixir project", "mix", "test", "--no-color").env(env...))
	}
	return list
}
