package service

import (
	"encoding/hex"
	"fmt"

	"github.com/pawl-dev/pawl"
)

// checkReply checks the parts and the finish reason of an imported reply.
func checkReply(b pawl.Replied) error {
	if err := known("finish", b.Finish, pawl.FinishEndTurn, pawl.FinishToolUse, pawl.FinishMaxTokens, pawl.FinishCanceled); err != nil {
		return err
	}
	for _, part := range b.Parts {
		switch part.(type) {
		case pawl.Text, pawl.Reasoning, pawl.ToolCall:
		default:
			return fmt.Errorf("parts: a reply cannot contain a %T", part)
		}
	}
	return nil
}

func checkAccess(list []pawl.Access) error {
	for _, a := range list {
		if err := known("access.kind", a.Kind, pawl.AccessRead, pawl.AccessWrite, pawl.AccessExec, pawl.AccessEscape, pawl.AccessNet, pawl.AccessMCP, pawl.AccessSkill); err != nil {
			return err
		}
	}
	return nil
}

func checkTodos(list []pawl.Todo) error {
	for _, t := range list {
		if err := known("todos.status", t.Status, pawl.TodoPending, pawl.TodoInProgress, pawl.TodoCompleted, pawl.TodoCanceled); err != nil {
			return err
		}
		if err := known("todos.priority", t.Priority, pawl.PriorityHigh, pawl.PriorityMedium, pawl.PriorityLow); err != nil {
			return err
		}
	}
	return nil
}

func checkEnd(b pawl.TurnFinished) error {
	err := known("reason", b.Reason, pawl.ReasonEndTurn, pawl.ReasonMaxSteps, pawl.ReasonMaxTokens, pawl.ReasonBudget, pawl.ReasonLoop,
		pawl.ReasonCanceled, pawl.ReasonPermissionDenied, pawl.ReasonError)
	if err == nil {
		err = known("fault", b.Fault, "", pawl.FaultModel, pawl.FaultInternal)
	}
	return err
}

// importedMeta lists the keys of [pawl.Result.Meta] that only describe a result. Others say
// which skills, rules and background jobs a session has.
var importedMeta = []string{"exit_code", "signal", "timeout", "binary", "protected", "outcome", "server", "tool"}

// importedResult returns the result of an imported call. It does not say what the model has
// seen of files: those of this directory may be others.
func importedResult(status pawl.CallStatus, r pawl.Result) (pawl.Result, error) {
	result := pawl.Result{Content: r.Content, Files: r.Files, Display: r.Display, IsError: r.IsError, Full: r.Full, Changed: r.Changed, Refused: r.Refused}
	if err := known("status", status, pawl.CallDone, pawl.CallRefused, pawl.CallDenied, pawl.CallCanceled, pawl.CallUnknown); err != nil {
		return result, err
	}
	for _, part := range r.Display {
		switch part.(type) {
		case pawl.Text, pawl.File, pawl.Patch:
		default:
			return result, fmt.Errorf("result.display: a result cannot show a %T", part)
		}
	}
	for _, key := range importedMeta {
		if value, ok := r.Meta[key]; ok {
			if result.Meta == nil {
				result.Meta = map[string]string{}
			}
			result.Meta[key] = value
		}
	}
	if r.Full != nil {
		if sum, err := hex.DecodeString(r.Full.ID); err != nil || len(sum) != 32 || r.Full.Size < 0 {
			return result, fmt.Errorf("result.full: %.80q is not the hash of an output", r.Full.ID)
		}
	}
	return result, nil
}
