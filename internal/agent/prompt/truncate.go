package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Truncate returns the conversation with its middle left out, so that it takes
// no more than budget tokens, by estimate. It is the last resort: what it leaves
// out is not summed up, only counted.
//
// What stays: the first message, if a person wrote it; of the last turn its
// prompt, what was said last and the newest steps. First the turns between go,
// the oldest first, then the older steps of the last turn. A step goes whole:
// the reply, its thoughts and seals, its calls and all of their results. Where
// something is missing a message says so, with the files that touched returns
// for its calls; touched may be nil. If that is not enough, the largest results
// are cut to their heads and tails.
//
// What is valid for a provider stays valid. If the budget is too small for what
// must stay, the outcome is the smallest there is, and larger than the budget.
//
// More goes than must, by up to a quarter of the budget, so that the next
// requests find the same place, and a provider's cache holds for them.
func Truncate(messages []pawl.Message, budget int, touched func(pawl.CallID) []string) []pawl.Message {
	total := Estimate(messages)
	if total <= budget {
		return messages
	}
	t := truncation{messages: messages, units: split(messages), budget: budget, total: total, touched: touched}
	var out []pawl.Message
	for _, l := range levels {
		if out = t.at(l); Estimate(out) <= budget {
			break
		}
	}
	return out
}

// level is how much is done to fit the budget.
type level struct {
	steps int  // of the last turn that stay
	bytes int  // that each result may be cut to
	files bool // the results' files go too
}

// levels are tried in turn.
var levels = []level{
	{steps: 4, bytes: 2000},
	{steps: 1, bytes: 200, files: true},
}

const (
	budgetStrides = 4   // by this part of the budget more is left out than must be
	wordTokens    = 200 // for the words on what is missing
)

type truncation struct {
	messages []pawl.Message
	units    []unit
	budget   int
	total    int
	touched  func(pawl.CallID) []string
}

// unit is what goes or stays as a whole: a message of the user's, or a reply
// and the results of its calls.
type unit struct {
	from, to int // messages
	tokens   int
	turn     bool // a turn begins with it
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

// at leaves out what it takes at a level, and cuts what is left if it must.
func (t truncation) at(l level) []pawl.Message {
	order := t.order(l.steps)
	stride := max(t.budget/budgetStrides, 1)
	need := (t.total + wordTokens - t.budget + stride - 1) / stride * stride
	gone := make([]bool, len(t.units))
	dropped := 0
	out := t.messages
	for len(order) > 0 {
		for len(order) > 0 && dropped < need {
			gone[order[0]] = true
			dropped += t.units[order[0]].tokens
			order = order[1:]
		}
		out = t.without(gone)
		over := Estimate(out) - t.budget // the words on what is missing count too
		if over <= 0 {
			return out
		}
		need = dropped + over
	}
	return cutToFit(out, t.budget, l)
}

// order returns the units that may go, in the order in which they do.
func (t truncation) order(steps int) []int {
	last := 0 // the last turn
	for i, u := range t.units {
		if u.turn {
			last = i
		}
	}
	var between, replies, said []int
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
			said = append(said, i)
		}
	}
	replies = replies[:max(len(replies)-steps, 0)]
	said = said[:max(len(said)-1, 0)]
	return slices.Concat(between, replies, said)
}

// without returns the conversation without the units that are gone, and a word
// in place of each run of them.
func (t truncation) without(gone []bool) []pawl.Message {
	var out []pawl.Message
	for i := 0; i < len(t.units); i++ {
		if !gone[i] {
			out = append(out, t.messages[t.units[i].from:t.units[i].to]...)
			continue
		}
		from := t.units[i].from
		for i+1 < len(t.units) && gone[i+1] {
			i++
		}
		missing := t.messages[from:t.units[i].to]
		out = append(out, pawl.Message{
			Seq: missing[0].Seq, Role: pawl.RoleUser,
			Parts: pawl.Parts{pawl.Text{Text: t.word(missing)}},
		})
	}
	return out
}

// What a word on missing messages names at most.
const (
	namedTools = 8
	namedFiles = 20
	namedBytes = 120 // of a name
)

// word says what is missing.
func (t truncation) word(missing []pawl.Message) string {
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
	fmt.Fprintf(&b, "[%d messages are left out here, as there is no room for them", len(missing))
	if calls > 0 {
		for i, name := range tools {
			tools[i] = fmt.Sprintf("%.*s %d", namedBytes, name, counts[name])
		}
		fmt.Fprintf(&b, ". They had %d calls (%s), and what these did stands", calls, list(tools, namedTools))
	}
	if len(files) > 0 {
		for i, name := range files {
			files[i] = fmt.Sprintf("%.*q", namedBytes, name) // a name may hold anything
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
