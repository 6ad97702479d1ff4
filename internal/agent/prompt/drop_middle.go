package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// DropMiddle returns the conversation with its middle left out, so that it has at most budget
// tokens, by estimate. It is the last resort: what it leaves out is counted, not summarized.
//
// These stay: the first message, if it is the user's; of the last turn its prompt, the last user
// message and the newest steps. The turns in between go first, the oldest first, then the older
// steps of the last turn. A step goes as a whole: the reply, its reasoning and signatures, its
// calls and all their results. In place of what is missing there is a message that says so, with
// the files that touched returns for the missing calls; touched may be nil. If that is not
// enough, the largest results are cut to their heads and tails.
//
// A valid request stays valid. If the budget is too small for what must stay, the result is the
// smallest possible, and exceeds the budget.
//
// Up to a quarter of the budget more than needed is left out, so that the next requests drop the
// same messages and a provider can cache them.
func DropMiddle(messages []pawl.Message, budget int, touched func(pawl.CallID) []string) []pawl.Message {
	total := Estimate(messages)
	if total <= budget {
		return messages
	}
	t := middleDrop{messages: messages, units: split(messages), budget: budget, total: total, touched: touched}
	var out []pawl.Message
	for _, l := range levels {
		if out = t.at(l); Estimate(out) <= budget {
			break
		}
	}
	return out
}

// level says how much is removed to fit the budget.
type level struct {
	steps int  // steps of the last turn that stay
	bytes int  // the limit that results may be cut to
	files bool // drop the files of results too
}

// levels are tried in order.
var levels = []level{
	{steps: 4, bytes: 2000},
	{steps: 1, bytes: 200, files: true},
}

const (
	budgetStrides     = 4   // up to 1/4 of the budget more than needed is left out
	droppedNoteTokens = 200 // reserved for the notes on what is missing
)

type middleDrop struct {
	messages []pawl.Message
	units    []unit
	budget   int
	total    int
	touched  func(pawl.CallID) []string
}

// unit is what goes or stays as a whole: a user message, or a reply with the results of its calls.
type unit struct {
	from, to int // messages
	tokens   int
	turn     bool // it begins a turn
	reply    bool
}

func split(messages []pawl.Message) []unit {
	var units []unit
	for i, m := range messages {
		if m.Role == pawl.RoleTool && len(units) > 0 {
			last := &units[len(units)-1]
			last.to, last.tokens = i+1, last.tokens+EstimateMessage(m)
			continue
		}
		units = append(units, unit{i, i + 1, EstimateMessage(m), beginsTurn(messages, i), m.Role != pawl.RoleUser})
	}
	return units
}

// at leaves out what is needed at a level, and cuts results if that is not enough.
func (t middleDrop) at(l level) []pawl.Message {
	order := t.order(l.steps)
	stride := max(t.budget/budgetStrides, 1)
	need := (t.total + droppedNoteTokens - t.budget + stride - 1) / stride * stride
	dropped := make([]bool, len(t.units))
	droppedTokens := 0
	out := t.messages
	for len(order) > 0 {
		for len(order) > 0 && droppedTokens < need {
			dropped[order[0]] = true
			droppedTokens += t.units[order[0]].tokens
			order = order[1:]
		}
		out = t.without(dropped)
		over := Estimate(out) - t.budget // the notes count too
		if over <= 0 {
			return out
		}
		need = droppedTokens + over
	}
	return cutToFit(out, t.budget, l)
}

// order returns the units that may go, in the order in which they do.
func (t middleDrop) order(steps int) []int {
	last := 0 // the last turn
	for i, u := range t.units {
		if u.turn {
			last = i
		}
	}
	var between, replies, prompts []int
	begun := false
	for i, u := range t.units {
		switch {
		case i == 0 && !u.reply: // the first message
		case i < last:
			between = append(between, i)
		case u.reply:
			begun = true
			replies = append(replies, i)
		case begun:
			prompts = append(prompts, i)
		}
	}
	replies = replies[:max(len(replies)-steps, 0)]
	prompts = prompts[:max(len(prompts)-1, 0)]
	return slices.Concat(between, replies, prompts)
}

// without returns the conversation without the dropped units, with a note in place of each run of
// them.
func (t middleDrop) without(dropped []bool) []pawl.Message {
	var out []pawl.Message
	for i := 0; i < len(t.units); i++ {
		if !dropped[i] {
			out = append(out, t.messages[t.units[i].from:t.units[i].to]...)
			continue
		}
		from := t.units[i].from
		for i+1 < len(t.units) && dropped[i+1] {
			i++
		}
		missing := t.messages[from:t.units[i].to]
		out = append(out, pawl.Message{
			Seq: missing[0].Seq, Role: pawl.RoleUser,
			Parts: pawl.Parts{pawl.Text{Text: t.note(missing)}},
		})
	}
	return out
}

// The limits of a note on missing messages.
const (
	namedTools = 8
	namedFiles = 20
	namedBytes = 120 // of a name
)

// note returns the text that replaces the missing messages.
func (t middleDrop) note(missing []pawl.Message) string {
	var tools, files []string
	counts := map[string]int{}
	calls := 0
	for _, m := range missing {
		for _, c := range m.Parts.Calls() {
			calls++
			if counts[c.Name]++; counts[c.Name] == 1 {
				tools = append(tools, c.Name)
			}
			if t.touched == nil {
				continue
			}
			for _, f := range t.touched(c.ID) {
				if !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s omitted here to save space", humanize.Plural(len(missing), "message"))
	if calls > 0 {
		for i, name := range tools {
			tools[i] = fmt.Sprintf("%.*s %d", namedBytes, name, counts[name])
		}
		fmt.Fprintf(&b, ". They had %s (%s), whose effects remain", humanize.Plural(calls, "tool call"), list(tools, namedTools))
	}
	if len(files) > 0 {
		for i, name := range files {
			files[i] = fmt.Sprintf("%.*q", namedBytes, name) // quoted: a name is untrusted text
		}
		fmt.Fprintf(&b, ". Files that they touched: %s", list(files, namedFiles))
	}
	b.WriteString(". Look again at what you need to know of them.]")
	return b.String()
}

// list joins the first names and says how many more there are.
func list(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
