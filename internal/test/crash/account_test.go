//go:build crashtest

package crash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// budgetArgs has eight subagents work in parallel, at a dollar a reply, for six dollars.
func budgetArgs() []string {
	return append(runArgs()[:5], "--max-cost", "6", "--format", "json", "do the tasks")
}

func budgetEnv(t *testing.T, store string) *harness.Workdir {
	t.Helper()
	const paid = `"usage":{"input":10,"cost":1000000000}}`
	eight := strings.Join(slices.Repeat([]string{`{"name":"task","input":{"agent":"general","description":"errand","prompt":"do it"}}`}, 8), ",")
	script := []string{`{"calls":[` + eight + `],` + paid, `{"text":"done",` + paid}
	for i := range 8 {
		script = append(script, fmt.Sprintf(`{"agent":"general","delay_ms":5,"calls":[{"name":"glob","input":{"pattern":"*.%d"}}],`, i)+paid)
	}
	s := scenario{script: append(script, `{"agent":"general","text":"done",`+paid)}
	return s.env(t, store)
}

// reported returns every total that pawl reports of the only session, and the sum over
// the replies in the logs of the session and its subagents.
func reported(t *testing.T, b *harness.Workdir) map[string]pawl.Money {
	t.Helper()
	id := string(b.Sessions(t)[0].ID)
	got := map[string]pawl.Money{}
	var list []pawl.Session
	var stats struct {
		Total pawl.Usage `json:"total"`
	}
	for command, into := range map[string]any{"session list": &list, "stats --session " + id: &stats} {
		out := b.Must(t, append(strings.Fields(command), "--json")...)
		if err := json.Unmarshal([]byte(out.Stdout), into); err != nil {
			t.Fatal(err)
		}
	}
	got["session list"], got["stats"] = list[0].Usage.Cost, stats.Total.Cost
	logs := b.Export(t, id)
	for _, e := range logs[:len(logs):len(logs)] {
		if f, ok := e.Body.(pawl.TurnFinished); ok {
			got["turn"] += f.Usage.Cost
		}
		if s, ok := e.Subagent(); ok {
			logs = append(logs, b.Export(t, string(s.Subagent))...)
		}
	}
	for _, e := range logs {
		used, _ := e.ModelUsage()
		got["replies"] += used.Usage.Cost
	}
	return got
}

// TestBudgetOfParallelSubagents: eight subagents share the budget of their parent, in
// one go and after a kill at any append, and every total has each reply once.
func TestBudgetOfParallelSubagents(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]int{"sqlite": 7, "postgres": 20} { // between the appends after which it is killed
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := harness.Stores[name](t)
			b := budgetEnv(t, store)
			out := run(t, b, budgetArgs())
			var result struct {
				Usage   pawl.Usage `json:"usage"`
				CostUSD float64    `json:"cost_usd"`
			}
			if err := json.Unmarshal([]byte(out.Stdout), &result); err != nil {
				t.Fatalf("%v\n%s\n%s", err, out.Stdout, out.Stderr)
			}
			if out.Code != cli.ExitLimit || result.Usage.Cost != pawl.MoneyOf(6) || result.CostUSD != 6 {
				t.Errorf("exit %d after $%g, want %d after $6", out.Code, result.CostUSD, cli.ExitLimit)
			}
			all6(t, reported(t, b))
			killed := each(t, 1000, func(i int) bool {
				n := 1 + i*step
				b := budgetEnv(t, store)
				if run(t, b, budgetArgs(), fmt.Sprintf("PAWL_CRASH=after:%d", n)).Code != -1 {
					return false
				}
				if len(b.Sessions(t)) == 0 || b.Sessions(t)[0].State() == pawl.StateIdle {
					return true // it was killed before it had accepted the prompt, or after the end
				}
				run(t, b, []string{"resume"})
				all6(t, reported(t, b))
				if t.Failed() {
					t.Logf("^ killed after append %d", n)
				}
				return true
			})
			if killed < 3 {
				t.Errorf("only %d kills", killed)
			}
			t.Logf("%d kills, each resumed to the same total", killed)
		})
	}
}

// all6 wants that all totals are six dollars.
func all6(t *testing.T, got map[string]pawl.Money) {
	t.Helper()
	for name, cost := range got {
		if cost != pawl.MoneyOf(6) {
			t.Errorf("%s: $%g, want $6", name, cost.Dollars())
		}
	}
}
