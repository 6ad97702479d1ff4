package tool

import (
	"context"
	_ "embed" // the descriptions
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed todoread.md
var todoReadDescription string

//go:embed todowrite.md
var todoWriteDescription string

// TodoRead returns the model's todo list.
func TodoRead() toolapi.Tool {
	return define(definition[struct{}]{
		name:        "todoread",
		description: todoReadDescription,
		risk:        toolapi.RiskSafe,
		access:      func(toolapi.Call, struct{}) ([]pawl.Access, error) { return nil, nil },
		run: func(_ context.Context, call toolapi.Call, _ struct{}) (pawl.Result, error) {
			return pawl.Result{Content: todoText(call.Caller.Todos())}, nil
		},
	})
}

type todoWriteInput struct {
	Items []todoItem `json:"items" jsonschema:"the whole list"`
}

type todoItem struct {
	ID       string `json:"id,omitempty"`
	Content  string `json:"content"`
	Status   string `json:"status" jsonschema:"pending, in_progress, completed or canceled"`
	Priority string `json:"priority,omitempty" jsonschema:"high, medium or low"`
}

// TodoWrite replaces the todo list.
func TodoWrite() toolapi.Tool {
	return define(definition[todoWriteInput]{
		name:        "todowrite",
		description: todoWriteDescription,
		risk:        toolapi.RiskSafe,
		access: func(_ toolapi.Call, in todoWriteInput) ([]pawl.Access, error) {
			_, err := in.todos()
			return nil, err
		},
		run: func(ctx context.Context, call toolapi.Call, in todoWriteInput) (pawl.Result, error) {
			todos, err := in.todos()
			if err != nil {
				return pawl.Result{}, err
			}
			if err := call.Caller.SetTodos(ctx, call.ID, todos); err != nil {
				return pawl.Result{}, err
			}
			return pawl.Result{Content: todoText(todos)}, nil
		},
	})
}

// todos validates the items and fills in defaults.
func (in todoWriteInput) todos() ([]pawl.Todo, error) {
	if len(in.Items) > Todos {
		return nil, fmt.Errorf("%d items are more than %d", len(in.Items), Todos)
	}
	todos := make([]pawl.Todo, 0, len(in.Items))
	ids := map[string]bool{}
	for i, item := range in.Items {
		t := pawl.Todo{ID: item.ID, Content: strings.TrimSpace(item.Content), Status: pawl.TodoStatus(item.Status), Priority: pawl.TodoPriority(item.Priority)}
		if t.ID == "" {
			t.ID = strconv.Itoa(i + 1)
		}
		if t.Priority == "" {
			t.Priority = pawl.PriorityMedium
		}
		if t.Content == "" {
			return nil, errors.New("an item has no content")
		}
		if ids[t.ID] {
			return nil, fmt.Errorf("two items have the id %q", t.ID)
		}
		ids[t.ID] = true
		switch t.Status {
		case pawl.TodoPending, pawl.TodoInProgress, pawl.TodoCompleted, pawl.TodoCanceled:
		default:
			return nil, fmt.Errorf("the status %q is unknown: use pending, in_progress, completed or canceled", t.Status)
		}
		switch t.Priority {
		case pawl.PriorityHigh, pawl.PriorityMedium, pawl.PriorityLow:
		default:
			return nil, fmt.Errorf("the priority %q is unknown: use high, medium or low", t.Priority)
		}
		todos = append(todos, t)
	}
	return todos, nil
}

var todoMarks = map[pawl.TodoStatus]string{
	pawl.TodoPending: "[ ]", pawl.TodoInProgress: "[>]", pawl.TodoCompleted: "[x]", pawl.TodoCanceled: "[-]",
}

// todoText formats the list for the model: the progress, then one line per
// item.
func todoText(todos []pawl.Todo) string {
	if len(todos) == 0 {
		return "(the list is empty)"
	}
	done := 0
	var lines strings.Builder
	for _, t := range todos {
		if t.Status == pawl.TodoCompleted || t.Status == pawl.TodoCanceled {
			done++
		}
		fmt.Fprintf(&lines, "%s %s: %s", todoMarks[t.Status], t.ID, t.Content)
		if t.Priority != pawl.PriorityMedium {
			fmt.Fprintf(&lines, " (%s)", t.Priority)
		}
		lines.WriteByte('\n')
	}
	return fmt.Sprintf("%d of %d done\n%s", done, len(todos), lines.String())
}
