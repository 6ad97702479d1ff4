package hook

import (
	"context"
	"fmt"
	"strconv"
)

// Resource is a limited resource of a session: tokens, money, time, disk.
type Resource struct {
	Name string // the beginning of a sentence: "the turn has used"
	Used int64
	Warn int64              // value at which the user is warned; 0 means never
	Max  int64              // value at which no more calls run; 0 means no limit
	Show func(int64) string // formats a value with its unit; nil means as a number
}

func (r Resource) String() string {
	show := r.Show
	if show == nil {
		show = func(n int64) string { return strconv.FormatInt(n, 10) }
	}
	return fmt.Sprintf("%s %s of %s", r.Name, show(r.Used), show(r.Max))
}

// ResourceControl returns a hook that warns the user, once per prompt, when a
// session is near its limits, and blocks calls beyond them. If the resources
// cannot be read, it blocks.
func ResourceControl(read func(context.Context, Event) ([]Resource, error)) Hook {
	h := Hook{Name: "resource-control", Priority: PriorityGuard, Points: []Point{ChatMessage, ToolBefore}}
	if read != nil {
		h.Run = func(ctx context.Context, e Event) (Outcome, error) {
			list, err := read(ctx, e)
			if err != nil {
				return Outcome{}, fmt.Errorf("read usage: %w", err)
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
