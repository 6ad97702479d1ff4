package servicetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl"
)

// testQueueChanged checks that queued prompts can be changed and withdrawn, and
// others cannot.
func testQueueChanged(b *testEnv) {
	id, model := b.busy(`{"text":"Done."}`, `{"expect":"^second, reworded$","text":"Second."}`, `{"expect":"^fourth$","text":"Fourth."}`)
	second := b.send(id, prompt("second", model, pawl.DeliverQueue))
	third := b.send(id, prompt("third", model, pawl.DeliverQueue))
	b.send(id, prompt("fourth", model, pawl.DeliverQueue))
	b.ok(b.Reword(b.Context(), id, second, pawl.Parts{pawl.Text{Text: "second, reworded"}}))
	b.ok(b.Withdraw(b.Context(), id, third))

	waiting, err := b.Waiting(b.Context(), id)
	b.ok(err)
	var texts []string
	for _, w := range waiting {
		texts = append(texts, w.Prompt.Parts.Text())
	}
	check(b, []string{"second, reworded", "fourth"}, texts)
	check(b, 2, b.get(id).Queued)

	b.code(pawl.CodeInvalid, b.Reword(b.Context(), id, second, nil))
	b.code(pawl.CodeConflict, b.Withdraw(b.Context(), id, third))
	b.code(pawl.CodeConflict, b.Withdraw(b.Context(), id, 2)) // the first one is in progress
	b.code(pawl.CodeNotFound, b.Withdraw(b.Context(), id, 1))
	b.code(pawl.CodeNotFound, b.Withdraw(b.Context(), id, 0))
	b.code(pawl.CodeNotFound, b.Withdraw(b.Context(), id, 999))
	_, err = b.Waiting(b.Context(), "01JD0000000000000000000000")
	b.code(pawl.CodeNotFound, err)

	b.release("go")
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonEndTurn, pawl.ReasonEndTurn}, b.reasons(id))
	check(b, 0, b.get(id).Queued)
}

// testQueueRace checks that each of many prompts that are withdrawn while the session
// takes them is either handled or withdrawn, never both.
func testQueueRace(b *testEnv) {
	const n = 12
	lines := []string{waits("go"), `{"text":"Done."}`}
	for range n {
		lines = append(lines, `{"text":"One."}`)
	}
	model := b.script(lines...)
	id := b.create()
	b.send(id, prompt("first", model, pawl.DeliverNow))
	b.until(id, 0, is[pawl.CallStarted])
	var prompts []pawl.Seq
	for i := range n {
		delivery := pawl.DeliverQueue
		if i%3 == 0 {
			delivery = pawl.DeliverSteer
		}
		prompts = append(prompts, b.send(id, prompt(fmt.Sprint(i), model, delivery)))
	}
	slices.Reverse(prompts)
	b.release("go")
	var wg sync.WaitGroup
	for _, p := range prompts {
		wg.Go(func() {
			if err := b.Withdraw(b.Context(), id, p); err != nil && !errors.Is(err, pawl.ErrConflict) {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.idle(id)
	over := map[pawl.Seq]int{}
	for _, e := range b.log(id) {
		switch body := e.Body.(type) {
		case pawl.TurnStarted:
			over[body.Prompt]++
		case pawl.Injected:
			over[body.Prompt]++
		case pawl.Withdrawn:
			over[body.Prompt]++
		default: // not about prompts
		}
	}
	for _, p := range prompts {
		check(b, 1, over[p])
	}
	check(b, 0, b.get(id).Queued)
}
