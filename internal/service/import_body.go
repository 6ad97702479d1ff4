package service

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// body returns the body of an imported event, or nil if events of its kind are left out. It
// copies only what describes the conversation. It never copies what permits something or makes
// something run: settings, modes, permissions, questions, subagents, missions, sharing,
// snapshots and what the model has seen of files.
func (im *importer) body(e pawl.Event) (pawl.Body, error) {
	if e.Turn < 0 || int64(e.Turn) > int64(e.Seq) {
		return nil, fmt.Errorf("turn: %d is out of range", e.Turn)
	}
	usage, _ := e.ModelUsage()
	if err := im.use(usage.Usage); err != nil {
		return nil, err
	}
	switch b := e.Body.(type) {
	case pawl.SessionTitled:
		return pawl.SessionTitled{Title: b.Title, ModelUsage: b.ModelUsage}, nil
	case pawl.SessionSummarized:
		return pawl.SessionSummarized{Summary: b.Summary, ModelUsage: b.ModelUsage}, nil
	case pawl.Prompted, pawl.Reworded, pawl.Withdrawn, pawl.TurnStarted, pawl.Injected:
		return im.promptBody(b)
	case pawl.ReplyStarted:
		return pawl.ReplyStarted{Step: b.Step, Model: b.Model}, nil
	case pawl.Replied:
		return pawl.Replied{Step: b.Step, Model: b.Model, Agent: b.Agent, Parts: b.Parts, Finish: b.Finish, Usage: b.Usage}, checkReply(b)
	case pawl.CallStarted:
		return pawl.CallStarted{Call: b.Call, Tool: b.Tool, Access: b.Access, ReadOnly: b.ReadOnly, Unsafe: importedUnsafe, Input: b.Input}, checkAccess(b.Access)
	case pawl.CallFinished:
		result, err := importedResult(b.Status, b.Result)
		return pawl.CallFinished{Call: b.Call, Status: b.Status, Result: result}, err
	case pawl.TodosSet:
		return pawl.TodosSet{Call: b.Call, Todos: b.Todos}, checkTodos(b.Todos)
	case pawl.TurnFinished:
		return pawl.TurnFinished{Reason: b.Reason, Fault: b.Fault, Message: b.Message, Steps: b.Steps, Usage: b.Usage}, checkEnd(b)
	case pawl.CompactionAsked, pawl.Compacted, pawl.UndoAsked, pawl.Undone, pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		return im.orderBody(b)
	case pawl.SessionShared, pawl.Retried, pawl.Asked, pawl.Answered, pawl.ModeChanged, pawl.Spawned,
		pawl.MissionStarted, pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned,
		pawl.CheckRan, pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		return nil, nil // left out
	default:
		return nil, fmt.Errorf("events of this kind cannot be imported")
	}
}

// importedUnsafe says why an imported call cannot be undone: the export has no snapshots.
const importedUnsafe = "the session was imported"

// promptBody returns the body of an event about a prompt, without the settings of the prompt.
func (im *importer) promptBody(b pawl.Body) (_ pawl.Body, err error) {
	switch b := b.(type) {
	case pawl.Prompted:
		if b.Mode != "" {
			_, err = permission.ParseMode(b.Mode)
		}
		if err == nil {
			err = known("delivery", b.Delivery, pawl.DeliverNow, pawl.DeliverQueue, pawl.DeliverSteer)
		}
		if err == nil {
			err = checkParts(b.Parts)
		}
		return pawl.Prompted{Parts: b.Parts, By: im.by}, err
	case pawl.Reworded:
		if err := checkParts(b.Parts); err != nil {
			return nil, err
		}
		prompt, err := im.seq("prompt", b.Prompt)
		return pawl.Reworded{Prompt: prompt, Parts: b.Parts}, err
	case pawl.Withdrawn:
		prompt, err := im.seq("prompt", b.Prompt)
		return pawl.Withdrawn{Prompt: prompt}, err
	case pawl.TurnStarted:
		prompt, err := im.seq("prompt", b.Prompt)
		return pawl.TurnStarted{Prompt: prompt}, err
	case pawl.Injected:
		if err := known("source", b.Source, "user", "max_steps", "budget", "task", "loop", "hook", missionapi.Source); err != nil {
			return nil, err
		}
		prompt, err := im.seq("prompt", b.Prompt)
		return pawl.Injected{Source: b.Source, Prompt: prompt, Text: b.Text}, err
	default:
		return nil, fmt.Errorf("events of this kind cannot be imported")
	}
}

// orderBody returns the body of an event about a request of the user. A request that the file
// leaves open is closed after the last event.
func (im *importer) orderBody(b pawl.Body) (pawl.Body, error) {
	switch b := b.(type) {
	case pawl.CompactionAsked:
		return pawl.CompactionAsked{Instructions: b.Instructions}, nil
	case pawl.Compacted:
		return im.compacted(b)
	case pawl.UndoAsked:
		return im.undoAsked(b)
	case pawl.Undone:
		asked, err := im.seq("asked", b.Asked)
		return pawl.Undone{Asked: asked, Refused: b.Refused, Changed: b.Changed, Left: b.Left}, err
	case pawl.ShellAsked:
		return pawl.ShellAsked{Command: b.Command, By: im.by}, nil
	case pawl.ShellStarted:
		asked, err := im.seq("asked", b.Asked)
		return pawl.ShellStarted{Asked: asked, Unsafe: importedUnsafe}, err
	case pawl.ShellRan:
		asked, err := im.seq("asked", b.Asked)
		if err != nil {
			return nil, err
		}
		result, err := importedResult(b.Status, b.Result)
		return pawl.ShellRan{Asked: asked, Status: b.Status, Result: result}, err
	default:
		return nil, fmt.Errorf("events of this kind cannot be imported")
	}
}

func (im *importer) compacted(b pawl.Compacted) (pawl.Body, error) {
	asked, err := im.seq("asked", b.Asked)
	if err != nil {
		return nil, err
	}
	keep, err := im.seq("keep", b.Keep)
	return pawl.Compacted{
		Asked: asked, Keep: keep, Text: b.Text, Task: b.Task, Files: b.Files, Before: b.Before, After: b.After, Message: b.Message, ModelUsage: b.ModelUsage,
	}, err
}

func (im *importer) undoAsked(b pawl.UndoAsked) (pawl.Body, error) {
	if err := known("scope", b.Scope, pawl.ScopeBoth, pawl.ScopeFiles, pawl.ScopeConversation); err != nil {
		return nil, err
	}
	if err := known("conflicts", b.Conflicts, pawl.ConflictsRefuse, pawl.ConflictsAside, pawl.ConflictsLeave); err != nil {
		return nil, err
	}
	to, err := im.seq("to", b.To)
	if err != nil {
		return nil, err
	}
	redo, err := im.seq("redo", b.Redo)
	return pawl.UndoAsked{Undo: pawl.Undo{To: to, Redo: redo, Scope: b.Scope, Conflicts: b.Conflicts}, By: im.by}, err
}

// known returns an error unless a field has one of the values that Pawl writes.
func known[T ~string](field string, value T, values ...T) error {
	if !slices.Contains(values, value) {
		return fmt.Errorf("%s: unknown value %.40q", field, value)
	}
	return nil
}
