package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of all hooks of one event together.
const (
	maxContext  = 32 << 10 // bytes for the model, including an injection
	maxContexts = 16       // texts for the model
	maxMessages = 16       // texts for the user
	maxMessage  = 4 << 10  // bytes of one of them, or of a reason
	maxFaults   = 32
	maxInput    = 1 << 20 // bytes of a changed input
)

// fold combines the outcomes of hooks, one after the other.
type fold struct {
	event Event // with the changes so far
	out   Outcome
	bytes int    // bytes for the model so far
	stale string // the hook that changed the input since Access was computed, or ""
}

// add adds the outcome of a hook.
func (f *fold) add(name string, o Outcome) {
	if o.Input != nil {
		if f.out.Decision == Allow {
			f.out.Decision = "" // it was for another input
		}
		f.event.Input, f.out.Input, f.stale = o.Input, o.Input, name
	}
	if o.Parts != nil {
		f.event.Parts, f.out.Parts = o.Parts, o.Parts
	}
	if o.Result != nil {
		f.event.Result, f.out.Result = *o.Result, o.Result
	}
	f.out.Decision = stricter(f.out.Decision, o.Decision)
	if o.Block || o.Decision == Deny {
		f.block(name, o.Reason)
	}
	if o.Stop && !f.out.Stop {
		f.out.Stop, f.out.StopReason, f.out.By = true, cut(o.StopReason, maxMessage), name
		if powers[f.event.Point]&canBlock != 0 && !f.out.Block {
			f.block(name, o.StopReason)
		}
	}
	for _, text := range o.Context {
		f.context(name, text)
	}
	if o.Continue {
		f.keepGoing(name, o)
	}
	if f.out.Stop {
		f.out.Continue, f.out.Injection, f.out.StopBlocked = false, "", false
	}
	for _, text := range o.Messages {
		if text != "" && len(f.out.Messages) < maxMessages {
			f.out.Messages = append(f.out.Messages, cut(text, maxMessage))
		}
	}
	for _, fault := range o.Faults {
		f.fault(fault)
	}
}

// refresh computes the accesses again if the input has changed, so that the
// next hooks see the call that would run. If that fails, the call is refused.
func (f *fold) refresh(ctx context.Context) {
	if f.stale == "" {
		return
	}
	var err error
	switch {
	case f.event.Touches != nil:
		f.event.Access, err = f.event.Touches(ctx, f.event.Input)
	case len(f.event.Access) > 0:
		err = errors.New("the accesses of the changed call are unknown")
	}
	if err != nil {
		f.fail(f.stale, fmt.Errorf("invalid changed input %s: %w", cut(string(f.event.Input), 200), err))
	}
	f.stale = ""
}

func (f *fold) block(name, reason string) {
	if reason == "" {
		reason = "no reason given"
	}
	f.out.Block, f.out.By, f.out.Reason = true, name, cut(reason, maxMessage)
	if powers[f.event.Point]&canDecide != 0 {
		f.out.Decision = Deny
	}
}

// fail records the error of a hook. Before a call it blocks, because the hook
// may have been a guard.
func (f *fold) fail(name string, err error) {
	f.fault(Fault{Hook: name, Text: err.Error()})
	if f.event.Point == ToolBefore {
		f.block(name, fmt.Sprintf("not run: hook %s failed: %v", name, err))
	}
}

func (f *fold) fault(fault Fault) {
	if len(f.out.Faults) < maxFaults {
		fault.Text = cut(fault.Text, maxMessage)
		f.out.Faults = append(f.out.Faults, fault)
	}
}

// fit returns as much of a text for the model as fits.
func (f *fold) fit(name, text string) string {
	kept := cut(text, maxContext-f.bytes)
	if kept != text {
		f.fault(Fault{Hook: name, Text: fmt.Sprintf("the text for the model was truncated: hooks can add at most %d bytes to an event", maxContext)})
	}
	f.bytes += len(kept)
	return kept
}

func (f *fold) context(name, text string) {
	switch {
	case text == "":
	case len(f.out.Context) == maxContexts:
		f.fault(Fault{Hook: name, Text: fmt.Sprintf("the text for the model was ignored: hooks can add at most %d texts to an event", maxContexts)})
	default:
		if text = f.fit(name, text); text != "" {
			f.out.Context = append(f.out.Context, text)
		}
	}
}

func (f *fold) keepGoing(name string, o Outcome) {
	f.out.Continue = true
	f.out.StopBlocked = f.out.StopBlocked || o.StopBlocked
	if text := f.fit(name, o.Injection); text != "" {
		f.out.Injection = strings.TrimPrefix(f.out.Injection+"\n\n"+text, "\n\n")
	}
}

// check returns an error if a hook has done something that its point does not
// allow.
func check(p Point, o Outcome) error {
	can := powers[p]
	for _, c := range []struct {
		did   bool
		needs power
		what  string
	}{
		{o.Block, canBlock, "blocks"},
		{o.Decision != "", canDecide, "decides"},
		{o.Input != nil, canInput, "changes an input"},
		{o.Parts != nil, canPrompt, "changes a prompt"},
		{o.Result != nil, canResult, "changes a result"},
		{o.Continue, canContinue, "continues a turn"},
		{len(o.Context) > 0, canContext, "adds context"},
	} {
		if c.did && can&c.needs == 0 {
			return fmt.Errorf("the hook %s, which is not possible at %s", c.what, p)
		}
	}
	switch o.Decision {
	case "", Allow, Ask, Deny:
	default:
		return fmt.Errorf("unknown decision %q: use allow, ask or deny", o.Decision)
	}
	if o.Input != nil {
		return checkInput(o.Input)
	}
	return nil
}

// checkInput returns an error if a changed input is invalid for every tool.
func checkInput(input json.RawMessage) error {
	switch {
	case len(input) > maxInput:
		return fmt.Errorf("the changed input is too large (%d bytes, the limit is %d)", len(input), maxInput)
	case !json.Valid(input) || !utf8.Valid(input) || !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")):
		return errors.New("the changed input is not a JSON object")
	}
	return nil
}

// cut returns the longest prefix of at most n bytes that ends between
// characters.
func cut(s string, n int) string {
	if n = max(n, 0); len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
