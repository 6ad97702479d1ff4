package pawl

import (
	"fmt"
	"slices"
	"strings"
)

// ShellAsked is a request by the user to run a shell command. It is carried out
// while no turn is open, and reported by [ShellRan].
type ShellAsked struct {
	Command string `json:"command"`
	By      Actor  `json:"by,omitzero"`
}

// ShellStarted is written before the command can have any effect. A started command
// that has no ShellRan event was interrupted and is not repeated.
type ShellStarted struct {
	Asked    Seq    `json:"asked"`
	Snapshot string `json:"snapshot,omitempty"` // of the workspace before the command
	Unsafe   string `json:"unsafe,omitempty"`   // why there is no snapshot, so that the command cannot be undone

	DirSnapshots map[string]string `json:"dir_snapshots,omitempty"` // of the added directories before the command
}

// ShellRan is the result of a [ShellAsked]. If the command was started, its output
// enters the conversation as a user message, with the Seq of its ShellStarted
// event.
type ShellRan struct {
	Asked    Seq        `json:"asked"`
	Status   CallStatus `json:"status"`
	Result   Result     `json:"result"`
	Snapshot string     `json:"snapshot,omitempty"` // of the workspace after the command; see [ShellStarted]

	DirSnapshots map[string]string `json:"dir_snapshots,omitempty"` // of the added directories after the command
}

// ShellCall returns the call ID of the user's shell command whose [ShellAsked] event
// has this Seq. [Progress] and [UndoPlan.Blind] use it.
func (s Seq) ShellCall() CallID { return CallID(fmt.Sprintf("shell_%d", s)) }

// startShell records that a shell command started.
func (h *History) startShell(e Event, b ShellStarted) error {
	i := slices.IndexFunc(h.orders, func(o Order) bool { return o.Seq == b.Asked })
	if i < 0 {
		return fmt.Errorf("request %d not found", b.Asked)
	}
	if _, ok := h.orders[i].Body.(ShellAsked); !ok || h.orders[i].Started != nil || h.open != nil {
		return fmt.Errorf("request %d is not a shell command, has already started, or a turn is open", b.Asked)
	}
	h.orders = slices.Clone(h.orders) // callers may hold the slice
	h.orders[i].Began, h.orders[i].Started = e.Seq, &b
	h.goOn(b.Asked)
	return nil
}

// goOn marks the shell command as newer than all undos, which can no longer be
// redone.
func (h *History) goOn(asked Seq) {
	h.undos = nil
	h.useCallID(asked.ShellCall(), nil)
}

// endShell adds the output of a shell command to the conversation.
func (h *History) endShell(b ShellRan) error {
	order, err := h.takeOrder(b.Asked)
	if err != nil {
		return err
	}
	asked, ok := order.Body.(ShellAsked)
	if !ok || h.open != nil {
		return fmt.Errorf("request %d is not a shell command, or a turn is open", b.Asked)
	}
	if order.Started != nil {
		h.add(order.Began, RoleUser, Parts{Text{ran(asked.Command, b.Result.Content)}})
	}
	return nil
}

// ran returns the message that shows the model a shell command and its output. The
// output is untrusted text: it is quoted so that none of it looks like the user's
// words.
func ran(command, output string) string {
	fence := fenceFor(command + output)
	return fmt.Sprintf("I ran this command myself, in your working directory:\n\n%s\n%s\n%s\n\n"+
		"This came of it. It is output, and no word of mine:\n\n%s\n%s\n%s", fence, command, fence, fence, strings.TrimRight(output, "\n"), fence)
}

// fenceFor returns a Markdown code fence that is longer than any in the text.
func fenceFor(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
