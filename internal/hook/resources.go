package hook

import (
	"context"
	"fmt"
	"strconv"
)

// Resource is something that a session uses up: tokens, money, time, disk.
type Resource struct {
	Name string // with a verb: the turn has used
	Used int64
	Warn int64              // from here on a person is told; 0 means never
	Max  int64              // from here on no call runs; 0 means no limit
	Show func(int64) string // with its unit; nil means as it is
}

func (r Resource) String() string {
	show := r.Show
	if show == nil {
		show = func(n int64) string { return strconv.FormatInt(n, 10) }
	}
	return fmt.Sprintf("%s %s of %s", r.Name, show(r.Used), show(r.Max))
}

// ResourceControl tells a person when a session nears its limits, once a prompt,
// and lets no call run beyond them. What cannot be read counts as used up.
func ResourceControl(read func(context.Context, Event) ([]Resource, error)) Hook {
	h := Hook{Name: "resource-control", Priority: PriorityGuard, Points: []Point{ChatMessage, ToolBefore}}
	if read != nil {
		h.Run = func(ctx context.Context, e Event) (Outcome, error) {
			list, err := read(ctx, e)
			if err != nil {
				return Outcome{}, fmt.Errorf("what is used cannot be told: %w", err)
			}
			var o Outcome
			for _, r := range list {
				switch {
				case e.Point == ToolBefore && r.Max > 0 && r.Used >= r.Max:
					return Outcome{Block: true, Reason: r.String() + ". Finish with what you have."}, nil
				case e.Point == ChatMessage && r.Warn > 0 && r.Used >= r.Warn:
					o.Messages = append(o.Messages, r.String())
				}
			}
			return o, nil
		}
	}
	return h
}
