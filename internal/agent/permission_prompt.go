package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// askPermission asks the user about a call, and returns nil if they allow it.
func (s *Stepper) askPermission(ctx context.Context, j *journal, p plannedCall, subject permission.Call, v permission.Verdict) error {
	ask, err := permissionAsk(j, permission.Prompt(subject, v), p.fingerprint(subject), v)
	if err != nil {
		return err
	}
	answer, err := toolSession{s, j}.ask(ctx, p.started.Call, ask)
	if err != nil {
		return &internalError{err}
	}
	if err := answerError(p.started.Tool, answer); err != nil {
		return err
	}
	c := toolSession{s, j}.call(p.started.Call)
	if err := p.sameAsAsked(&c, subject); err != nil {
		return err // an earlier attempt asked about another call
	}
	return s.acceptAnswer(ctx, j, p, answer)
}

// permissionAsk completes a permission prompt with the rules that the verdict offers.
func permissionAsk(j *journal, ask pawl.Ask, names string, v permission.Verdict) (pawl.Ask, error) {
	ask.Names, ask.Timeout = names, j.settings().AskTimeout
	for _, rule := range v.Offer {
		text, err := json.Marshal(rule)
		if err != nil {
			return ask, err
		}
		ask.Offer = append(ask.Offer, text)
	}
	return ask, nil
}

// acceptAnswer checks that whoever allowed a call may do so, and saves the rules of the
// answer.
func (s *Stepper) acceptAnswer(ctx context.Context, j *journal, p plannedCall, answer pawl.Answer) error {
	c := toolSession{s, j}.call(p.started.Call)
	if err := answererError(c.Permission); err != nil {
		return err
	}
	if len(answer.Always) > 0 {
		var session pawl.SessionID
		if answer.Session {
			session = j.id
		}
		if err := s.Authority.SaveRules(ctx, p.call.Dir, session, answer.Always); err != nil {
			return denied("not permitted: the answer could not be saved: %v", err)
		}
	}
	return nil
}

// earlierAnswerError is answerError for the answer that the log has; nil if it has none.
func earlierAnswerError(c *pawl.CallState) error {
	if c.Permission == nil || c.Permission.Answer == nil {
		return nil
	}
	return answerError(c.Call.Name, *c.Permission.Answer)
}

// answerError returns nil if the answer lets the call run. A denial with a message becomes
// the call's result; one without ends the turn.
func answerError(tool string, a pawl.Answer) error {
	switch {
	case a.Outcome == pawl.OutcomeAnswered:
		return nil
	case a.Outcome == pawl.OutcomeAbsent:
		return denied("not permitted: no user is present to ask")
	case a.Outcome == pawl.OutcomeCanceled:
		return &internalError{&Stop{Reason: pawl.ReasonCanceled}}
	case a.Outcome == pawl.OutcomeTimeout:
		return &Stop{Reason: pawl.ReasonPermissionDenied, Message: fmt.Sprintf("permission to use %s was not answered in time", tool)}
	case a.Outcome == pawl.OutcomeDenied && strings.TrimSpace(a.Text) != "":
		return denied("the user denied it and said: %s", a.Text)
	default:
		return &Stop{Reason: pawl.ReasonPermissionDenied, Message: fmt.Sprintf("permission to use %s was denied", tool)}
	}
}

// answererError returns a denial if whoever answered a permission prompt may not allow anything.
func answererError(a *pawl.OpenAsk) error {
	if a == nil || a.Answer == nil {
		return nil
	}
	if err := access.AuthorizeAnswer(a.By, pawl.AskPermission, *a.Answer); err != nil {
		return denied("not permitted: %v", err)
	}
	return nil
}

// fingerprint identifies what a permission is for: everything that the user is shown of
// the call, and whether its command runs in the sandbox.
func (p plannedCall) fingerprint(subject permission.Call) string {
	name := permission.Fingerprint(subject)
	runs := slices.ContainsFunc(subject.Access, func(a pawl.Access) bool { return a.Kind == pawl.AccessExec })
	if runs && !p.policy.Sandboxed {
		name += " unboxed"
	}
	return name
}

// sameAsAsked returns nil if the call is the one that the user was asked about, else a
// denial.
func (p plannedCall) sameAsAsked(c *pawl.CallState, subject permission.Call) error {
	if c.Permission == nil || c.Permission.Asked.Names != p.fingerprint(subject) {
		return denied("not run: what it would touch has changed since it was put to the user")
	}
	return nil
}
