package record

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Kinds as SQL lists.
var (
	QuietKinds    = list(store.QuietKinds)
	IndexKindList = list(IndexKinds)
)

func list(kinds []pawl.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, "'"+string(k)+"'")
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// States has the SQL condition of each [pawl.Filter.State].
var States = map[pawl.State]string{
	pawl.StateIdle:    "NOT turn_open AND queued <= 0",
	pawl.StateQueued:  "NOT turn_open AND queued > 0",
	pawl.StateRunning: "turn_open",
	pawl.StateAsking:  "turn_open AND asks > 0",
	pawl.StateFailed:  "NOT turn_open AND queued <= 0 AND ended = 'error'",
}

// Exact returns the columns that must equal a value, each followed by the value.
func Exact(f pawl.Filter) [][2]string {
	all := [][2]string{{"dir", f.Dir}, {"agent", f.Agent}, {"model", f.Model}}
	var set [][2]string
	for _, c := range all {
		if c[1] != "" {
			set = append(set, c)
		}
	}
	return set
}
