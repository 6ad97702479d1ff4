package loops

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// done is a call and its result.
type done struct {
	tool, input, content string
	result               pawl.Result // unless content says it all
}

// note hands a step to the detector.
func (d *Detector) note(step int, list ...done) Verdict {
	var calls []pawl.ToolCall
	var results []pawl.Result
	for i, c := range list {
		calls = append(calls, pawl.ToolCall{ID: pawl.CallID(fmt.Sprintf("%d_%d", step, i)), Name: c.tool, Input: json.RawMessage(c.input)})
		if c.content != "" {
			c.result.Content = c.content
		}
		results = append(results, c.result)
	}
	return d.Note(step, calls, results)
}

func TestDetector(t *testing.T) {
	t.Parallel()
	grep := done{tool: "grep", input: `{"pattern":"x","path":"a"}`, content: "nothing"}
	list := done{tool: "list", input: `{}`, content: "a b"}
	poll := done{tool: "bash_output", input: `{"id":"job_1"}`, content: "(no new output; job_1: running, 1.0 s)"}
	sleep := done{tool: "bash", input: `{"command":"sleep 5"}`, content: "(done, no output)"}
	with := func(d done, change func(*done)) done { change(&d); return d }
	every := func(n int, steps ...[]done) [][]done {
		var all [][]done
		for range n {
			all = append(all, steps...)
		}
		return all
	}
	step := func(list ...done) []done { return list }
	counting := func(d done, n int, content string) [][]done {
		var all [][]done
		for i := range n {
			all = append(all, step(with(d, func(d *done) { d.content = fmt.Sprintf(content, i) })))
		}
		return all
	}
	seen := func(hash string) []done {
		return step(done{tool: "write", input: `{}`, result: pawl.Result{Content: "written", Seen: map[string]string{"a": hash, "b": "1"}}})
	}
	picture := func(data string) []done {
		return step(done{tool: "read", input: `{}`, result: pawl.Result{Content: "an image", Files: []pawl.File{{Name: "a.png", Data: []byte(data)}}}})
	}
	for _, test := range []struct {
		name  string
		steps [][]done
		want  []Verdict // Tool apart
	}{
		{"twice", every(2, step(grep)), nil},
		{"three times", every(3, step(grep)), []Verdict{{Kind: Same, Severity: Warn, Step: 3, Length: 1, Times: 3}}},
		{"and again", every(8, step(grep)), []Verdict{{Same, Warn, 3, "", 1, 3}, {Same, Stop, 6, "", 1, 3}}},
		{"keys in another order, other spaces", [][]done{
			step(grep), step(with(grep, func(d *done) { d.input = ` {"path": "a", "pattern": "x"} ` })), step(grep),
		}, []Verdict{{Same, Warn, 3, "", 1, 3}}},
		{"another input", [][]done{step(grep), step(with(grep, func(d *done) { d.input = `{"pattern":"y","path":"a"}` })), step(grep), step(grep)}, nil},
		{"another tool", [][]done{step(grep), step(grep), step(list), step(grep), step(grep)}, nil},
		{"another tool, all else the same", [][]done{step(grep), step(grep), step(with(grep, func(d *done) { d.tool = "glob" }))}, nil},
		{"another picture", [][]done{picture("1"), picture("2"), picture("3")}, nil},
		{"the same picture", every(3, picture("1")), []Verdict{{Same, Warn, 3, "", 1, 3}}},
		{"numbers that are almost equal", [][]done{
			step(with(grep, func(d *done) { d.input = `{"n":12345678901234567890}` })), step(with(grep, func(d *done) { d.input = `{"n":12345678901234567891}` })),
			step(with(grep, func(d *done) { d.input = `{"n":12345678901234567890}` })),
		}, nil},
		{"not JSON, and not the same", [][]done{
			step(with(grep, func(d *done) { d.input = `{} 1` })), step(with(grep, func(d *done) { d.input = `{} 2` })), step(with(grep, func(d *done) { d.input = `{} 3` })),
		}, nil},
		{"another result", counting(grep, 30, "match %d"), nil},
		{"a failure", [][]done{step(grep), step(grep), step(with(grep, func(d *done) { d.result.IsError = true }))}, nil},
		{"a file that changes", [][]done{seen("1"), seen("2"), seen("3"), seen("4"), seen("5")}, nil},
		{"a file that stays", every(3, seen("1")), []Verdict{{Same, Warn, 3, "", 1, 3}}},
		{"a file that changes to and fro", every(5, seen("1"), seen("2")), []Verdict{{Cycle, Warn, 10, "", 2, 5}}},
		{"times alone differ", counting(grep, 3, "FAIL\tpkg\t0.%d1s"), []Verdict{{Same, Warn, 3, "", 1, 3}}},
		{"one step, many times the same call", [][]done{step(grep, grep, grep, grep)}, nil},
		{"steps of many calls, in any order", [][]done{step(grep, list), step(list, grep), step(grep, list, grep)}, []Verdict{{Same, Warn, 3, "", 1, 3}}},
		{"one of the calls goes on", [][]done{step(grep, list), step(grep, with(list, func(d *done) { d.content = "c" })), step(grep, with(list, func(d *done) { d.content = "d" }))}, nil},
		{"a cycle of two, four times", every(4, step(grep), step(list)), nil},
		{"a cycle of two", every(5, step(grep), step(list)), []Verdict{{Cycle, Warn, 10, "", 2, 5}}},
		{"a cycle of four", every(5, step(grep), step(list), step(sleep), step(grep, list)), []Verdict{{Cycle, Warn, 20, "", 4, 5}}},
		{"a cycle of five", every(9, step(grep), step(list), step(sleep), step(grep, list), step(grep, sleep)), nil},
		{"a cycle that breaks off", append(every(4, step(grep), step(list)), append(every(1, step(grep), step(sleep)), every(4, step(grep), step(list))...)...), nil},
		{"a job that prints", counting(poll, 40, "line %d\n(job_1: running, 1.0 s)"), nil},
		{"a job that prints nothing", counting(poll, 9, "(no new output; job_1: running, %d.0 s)"), nil},
		{"a job that prints nothing for long", counting(poll, 20, "(no new output; job_1: running, %d.0 s)"), []Verdict{{Same, Warn, 10, "", 1, 10}, {Same, Stop, 20, "", 1, 10}}},
		{"waits between polls", every(9, step(poll), step(sleep)), nil},
		{"waits between polls for long", every(10, step(poll), step(sleep)), []Verdict{{Cycle, Warn, 20, "", 2, 10}}},
		{"not JSON", every(3, step(done{tool: "x", input: `{"a":`, content: "no"})), []Verdict{{Same, Warn, 3, "", 1, 3}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d Detector
			var got []Verdict
			for i, s := range test.steps {
				if v := d.note(i+1, s...); v != (Verdict{}) {
					if v.Text() == "" || v != d.Verdict() {
						t.Errorf("it says %q, and then %+v", v.Text(), d.Verdict())
					}
					v.Tool = ""
					got = append(got, v)
				} else if d.Verdict() != (Verdict{}) {
					t.Errorf("step %d: the verdict is still %+v", i+1, d.Verdict())
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHashSteady(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"ok pkg 0.01s", "ok pkg 12.5s", true},
		{"--- FAIL: TestA (0.00s)", "--- FAIL: TestA (1.25s)", true},
		{"after 1m2.5s.", "after 59s.", true},
		{"running, 1.0 s", "running, 60.0 s", true},
		{"5 ms", "7 ms", true},
		{"5µs", "7ns", true},
		{"5s", "7s", true},
		{"5 sheep", "7 sheep", false},
		{"5m", "7m", false},
		{"5", "7", false},
		{"v5s", "v7s", false},
		{"1.2.3-5s", "1.2.3-7s", false},
		{"5s_a", "7s_a", false},
		{"5s5", "7s5", false},
		{"5s a", "7s b", false},
		{"5s", "5s 5s", false},
		{"", "5s", false},
		{"\x00", "5s", true}, // which is what stands for it
	} {
		if same := hashWithoutDurations(seed, test.a) == hashWithoutDurations(seed, test.b); same != test.same {
			t.Errorf("%q and %q: the same is %v", test.a, test.b, same)
		}
	}
}

// prose is a text that is much alike, and still says something.
func prose() string {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "Step %d looks at %x, which is the %dth of its kind, and goes on from there. ", i, i*i*7919, i*3)
	}
	return b.String()
}

func TestBabbles(t *testing.T) {
	t.Parallel()
	prose, code := prose(), ""
	for i := range 120 {
		code += fmt.Sprintf("\tcase %q:\n\t\treturn parse%x(s[%d:])\n\t}\n", strings.Repeat(string(rune('a'+i%26)), i%7+1), i*i*31, i)
	}
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"nothing", "", false},
		{"prose", prose, false},
		{"code", code, false},
		{"little", strings.Repeat("ha ", 100), false},
		{"one character", strings.Repeat("a", 700), true},
		{"one word", strings.Repeat("ha ", 300), true},
		{"one sentence", strings.Repeat("I will now look at the file again. ", 30), true},
		{"one paragraph", strings.Repeat("I will now look at the file again.\n\nThen I will run the tests, and if they fail, I will look at the file again.\n\n", 30), true},
		{"a counter", func() string {
			var b strings.Builder
			for i := 100; i < 160; i++ {
				fmt.Fprintf(&b, "Attempt %d: let me try this again now.\n", i)
			}
			return b.String()
		}(), true},
		{"one line among others", func() string {
			var b strings.Builder
			for i := range 40 {
				fmt.Fprintf(&b, "I apologize for the confusion, let me correct this.\n%s\n", strings.Repeat(string(rune('a'+i%26)), i%13))
			}
			return b.String()
		}(), true},
		{"at the end", prose + strings.Repeat("and so on ", 500), true},
		{"in the middle", strings.Repeat("and so on ", 500) + prose, false},
		{"braces", strings.Repeat("}\n", 30) + code + strings.Repeat("}\n", 30), false},
		{"seven times", strings.Repeat(prose[:500], 7), false},
	} {
		if got := repeatsItself(test.text); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

// play folds a log, as the loop would write it, and returns the verdicts.
func play(t interface{ Fatal(...any) }, bodies ...pawl.Body) []Verdict {
	var d Detector
	var h pawl.History
	var got []Verdict
	for i, b := range bodies {
		e := pawl.Event{Seq: pawl.Seq(i + 1), Body: b}
		if err := h.Apply(e); err != nil {
			t.Fatal(err)
		}
		if v := d.Apply(e); v != (Verdict{}) {
			got = append(got, v)
		}
	}
	return got
}

func stepOf(n, from int, text string, contents ...string) []pawl.Body {
	parts := pawl.Parts{pawl.Text{Text: text}}
	var finished []pawl.Body
	for i, c := range contents {
		id := pawl.CallID(fmt.Sprintf("call_%d_%d", from+n, i))
		parts = append(parts, pawl.ToolCall{ID: id, Name: "bash", Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
		finished = append(finished, pawl.CallFinished{Call: id, Result: pawl.Result{Content: c}})
	}
	slices.Reverse(finished) // results come as they come
	return append([]pawl.Body{pawl.ReplyStarted{Step: n}, pawl.Replied{Step: n, Parts: parts}}, finished...)
}

func TestApply(t *testing.T) {
	t.Parallel()
	begin := []pawl.Body{pawl.SessionCreated{}, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Go."}}}, pawl.TurnStarted{Prompt: 2}}
	same := func(from, to, offset int) []pawl.Body {
		var all []pawl.Body
		for n := from; n <= to; n++ {
			all = append(all, stepOf(n, offset, "", "a", "b")...)
		}
		return all
	}
	babble := strings.Repeat("and so on ", 100)
	seq := func(bodies []pawl.Body) pawl.Seq { return pawl.Seq(len(bodies) + 1) }

	log := slices.Concat(begin, same(1, 2, 0))
	if got := play(t, log...); got != nil {
		t.Errorf("two steps: %+v", got)
	}
	want := []Verdict{{Same, Warn, 3, "bash", 1, 3}, {Same, Stop, 6, "bash", 1, 3}}
	if diff := cmp.Diff(want, play(t, slices.Concat(begin, same(1, 6, 0))...)); diff != "" {
		t.Errorf("six steps: %s", diff)
	}
	// A person's word, or a new turn, begins anew.
	steered := append(slices.Clone(log), pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Once more."}}})
	steered = append(steered, pawl.Injected{Source: "user", Prompt: seq(log)})
	if got := play(t, slices.Concat(steered, same(3, 4, 0))...); got != nil {
		t.Errorf("steered: %+v", got)
	}
	anew := append(slices.Clone(log), pawl.TurnFinished{}, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Again."}}})
	anew = append(anew, pawl.TurnStarted{Prompt: pawl.Seq(len(anew))})
	if got := play(t, slices.Concat(anew, same(1, 2, 100))...); got != nil {
		t.Errorf("another turn: %+v", got)
	}
	// A message from the system does not.
	notified := append(slices.Clone(log), pawl.Injected{Source: "loop", Text: "You repeat yourself."})
	if diff := cmp.Diff(want[:1], play(t, slices.Concat(notified, same(3, 4, 0))...)); diff != "" {
		t.Errorf("told: %s", diff)
	}
	// A person who is asked and lets it go on does; one who denies it does not.
	want = []Verdict{{Same, Warn, 3, "bash", 1, 3}, {Same, Stop, 6, "bash", 1, 3}, {Same, Warn, 9, "bash", 1, 3}}
	for name, tt := range map[string]struct {
		kind    pawl.AskKind
		outcome pawl.Outcome
		third   Severity
	}{
		"yes": {pawl.AskLoop, pawl.OutcomeAnswered, Warn},
		"no":  {pawl.AskLoop, pawl.OutcomeDenied, Stop},
	} {
		asked := slices.Concat(begin, same(1, 6, 0))
		asked = append(asked, pawl.Asked{Ask: pawl.Ask{Kind: tt.kind}})
		asked = append(asked, pawl.Answered{Ask: pawl.Seq(len(asked)), Answer: pawl.Answer{Outcome: tt.outcome}})
		want[2].Severity = tt.third
		if diff := cmp.Diff(want, play(t, slices.Concat(asked, same(7, 9, 0))...)); diff != "" {
			t.Errorf("asked, %s: %s", name, diff)
		}
	}
	// A reply that repeatsItself counts too, and only once if its step is found fault with as well.
	mixed := slices.Concat(log, stepOf(3, 0, babble, "a", "b"), same(4, 6, 0))
	want = []Verdict{{Repetition, Warn, 3, "", 1, 1}, {Same, Stop, 6, "bash", 1, 3}}
	if diff := cmp.Diff(want, play(t, mixed...)); diff != "" {
		t.Errorf("babble: %s", diff)
	}
}

// A verdict stands until the next step begins, so that whoever prepares that
// step can ask for it, and a resumed turn too.
func TestVerdictStands(t *testing.T) {
	t.Parallel()
	var d Detector
	apply := func(bodies ...pawl.Body) {
		for _, b := range bodies {
			d.Apply(pawl.Event{Body: b})
		}
	}
	for n := 1; n <= 3; n++ {
		apply(stepOf(n, 0, "", "a")...)
	}
	apply(pawl.SessionTitled{}, pawl.Injected{Source: "loop", Text: d.Verdict().Text()}, pawl.CallFinished{Call: "unknown"})
	if got := d.Verdict(); got != (Verdict{Same, Warn, 3, "bash", 1, 3}) {
		t.Errorf("after the step: %+v", got)
	}
	if apply(pawl.ReplyStarted{Step: 4}); d.Verdict() != (Verdict{}) {
		t.Errorf("in the next: %+v", d.Verdict())
	}
}

// oracle finds what the detector should, the slow way.
func oracle(steps []string) []Verdict {
	var got []Verdict
	var since []string
	for i, s := range steps {
		since = append(since, s)
		for n := 1; n <= 4; n++ {
			times := 5
			if n == 1 {
				times = 3
			}
			if len(since) >= n && strings.Contains(strings.Join(since[len(since)-n:], ""), "p") {
				times = 10
			}
			if len(since) < n*times {
				continue
			}
			tail := since[len(since)-n*times:]
			if !slices.Equal(tail[n:], tail[:len(tail)-n]) {
				continue
			}
			v := Verdict{Cycle, min(Severity(len(got)+1), Stop), i + 1, "", n, times}
			if n == 1 {
				v.Kind = Same
			}
			got, since = append(got, v), nil
			break
		}
	}
	return got
}

// It finds each loop at the very step, and nothing else.
func TestDetectorAgainstOracle(t *testing.T) {
	t.Parallel()
	fired := map[Verdict]bool{}
	rapid.Check(t, func(t *rapid.T) {
		var steps []string
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			piece := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "p"}), 1, 4).Draw(t, "piece")
			for range rapid.IntRange(1, 12).Draw(t, "times") {
				steps = append(steps, piece...)
			}
		}
		var d Detector
		var got []Verdict
		for i, s := range steps {
			call := done{tool: "read", input: fmt.Sprintf("%q", s), content: "same"}
			if s == "p" {
				call.tool = "bash_output"
			}
			if v := d.note(i+1, call); v != (Verdict{}) {
				v.Tool = ""
				got = append(got, v)
				fired[Verdict{Kind: v.Kind, Length: v.Length, Times: v.Times}] = true
			}
		}
		if diff := cmp.Diff(oracle(steps), got); diff != "" {
			t.Fatalf("%s: %s", strings.Join(steps, ""), diff)
		}
	})
	for _, v := range []Verdict{{Kind: Same, Length: 1, Times: 3}, {Kind: Same, Length: 1, Times: 10}, {Kind: Cycle, Length: 2, Times: 5}, {Kind: Cycle, Length: 2, Times: 10}} {
		if !fired[v] {
			t.Errorf("%+v was never drawn: the test shows nothing of it", v)
		}
	}
}

// Without repetition there is no verdict, however alike the steps are.
func TestDetectorIsPatient(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d Detector
		for i := range rapid.IntRange(0, 80).Draw(t, "steps") {
			call := done{tool: rapid.SampledFrom([]string{"bash", "bash_output"}).Draw(t, "tool"), input: `{}`, content: "x"}
			if rapid.Bool().Draw(t, "by the input") {
				call.input = fmt.Sprintf(`{"n":%d}`, i)
			} else {
				call.content = fmt.Sprintf("%d of 80", i)
			}
			if v := d.note(i+1, call, done{tool: "list", input: "{}", content: "same"}); v != (Verdict{}) {
				t.Fatalf("step %d: %+v", i+1, v)
			}
		}
	})
}

// The same JSON in another spelling is the same call; another is another.
func TestCanonical(t *testing.T) {
	t.Parallel()
	value := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.Map(rapid.Int(), func(i int) any { return i }), rapid.Map(rapid.String(), func(s string) any { return s })))
	rapid.Check(t, func(t *rapid.T) {
		v := value.Draw(t, "value")
		compact, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		spelled := []byte("{ ")
		for i, key := range rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, "order") {
			if i > 0 {
				spelled = append(spelled, ",\n"...)
			}
			k, _ := json.Marshal(key)
			x, _ := json.Marshal(v[key])
			spelled = fmt.Appendf(spelled, "%s :\t%s", k, x)
		}
		spelled = append(spelled, " }"...)
		call := func(input []byte) uint64 { return hashCall(pawl.ToolCall{Name: "a", Input: input}) }
		if call(compact) != call(spelled) {
			t.Fatalf("%s is not %s", compact, spelled)
		}
		v["more"] = len(v)
		more, _ := json.Marshal(v)
		if string(more) != string(compact) && call(more) == call(compact) {
			t.Fatalf("%s is the same as %s", more, compact)
		}
	})
}

func BenchmarkNote(b *testing.B) {
	content := strings.Repeat("ok  \tgithub.com/pawl-dev/pawl/internal/agent\t0.012s\n", 80) // 4,000 bytes
	calls := []pawl.ToolCall{{ID: "a", Name: "bash", Input: json.RawMessage(`{"command":"go test ./...","timeout":60}`)}}
	results := []pawl.Result{{Content: content}}
	b.Run("step", func(b *testing.B) {
		var d Detector
		for n := 0; b.Loop(); n++ {
			d.Note(n, calls, results)
		}
	})
	text := prose()
	b.Run("reply", func(b *testing.B) {
		for b.Loop() {
			repeatsItself(text)
		}
	})
}
