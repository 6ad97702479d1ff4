package transcript

import (
	"maps"
	"slices"

	"github.com/pawl-dev/pawl"
)

// askItem returns the item of an ask without an answer.
func askItem(id string, e pawl.Event, b pawl.Asked) Item {
	it := Item{
		ID: id, Kind: KindAsk, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateWaiting,
		Ask: &Ask{Seq: e.Seq, Call: b.Call, Ask: b.Ask, Choices: Choices(b.Ask)},
	}
	if b.Timeout > 0 {
		it.Until = e.At.Add(b.Timeout)
	}
	return it
}

// OpenAsks returns the asks without an answer, in order.
func (t *Transcript) OpenAsks() []Item {
	var list []Item
	for _, seq := range slices.Sorted(maps.Keys(t.asks)) {
		if it := t.asks[seq]; !t.hidden(it) {
			list = append(list, *it)
		}
	}
	return list
}

// Choices returns the answers that front ends offer for an ask. Several questions, and those with
// several answers, need a form.
func Choices(a pawl.Ask) []Choice {
	yes, no := pawl.Answer{Outcome: pawl.OutcomeAnswered, Names: a.Names}, pawl.Answer{Outcome: pawl.OutcomeDenied, Names: a.Names}
	switch a.Kind {
	case pawl.AskPermission:
		return permissionChoices(a, yes, no)
	case pawl.AskLoop:
		return []Choice{{"continue", "Continue", yes}, {"stop", "Stop", no}}
	case pawl.AskQuestion, pawl.AskPlan:
	}
	if len(a.Questions) != 1 || a.Questions[0].Multiple {
		return nil
	}
	var list []Choice
	for _, o := range a.Questions[0].Options {
		answer := yes
		answer.Answers = [][]string{{o.Label}}
		list = append(list, Choice{o.Label, o.Label, answer})
	}
	return list
}

func permissionChoices(a pawl.Ask, yes, no pawl.Answer) []Choice {
	once, session, always, deny := "Allow once", "Allow for this session", "Always allow in this project", "Deny"
	if a.Ran {
		once, session, always, deny = "Apply", "Apply for this session", "Always apply in this project", "Discard"
	}
	list := []Choice{{"allow", once, yes}}
	if len(a.Offer) > 0 {
		saved := yes
		saved.Always = a.Offer
		short := saved
		short.Session = true
		list = append(list, Choice{"session", session, short}, Choice{"always", always, saved})
	}
	return append(list, Choice{"deny", deny, no})
}
