package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func TestEstimateText(t *testing.T) {
	t.Parallel()
	prose := "The log is the truth: what is not in it has not happened. Every step can be repeated, because it looks into the log first. "
	code := "\tfor i, m := range messages {\n\t\tif err := c.message(i, m); err != nil {\n\t\t\treturn fmt.Errorf(\"%s: %w\", r.field, err)\n\t\t}\n\t}\n"
	for _, test := range []struct {
		name, text string
		least      float64 // bytes, or characters, for a token
		most       float64
		of         func(string) int
	}{
		{"prose", prose, 3.8, 4.8, bytesOf},
		{"code", code, 2.6, 3.8, bytesOf},
		{"JSON", `{"path":"internal/agent/prompt/prompt.go","offset":12,"limit":200,"all":true}`, 2.4, 3.6, bytesOf},
		{"base64", "QmFzZTY0IGlzIGEgZ3JvdXAgb2YgYmluYXJ5LXRvLXRleHQgZW5jb2Rpbmcgc2NoZW1lcw9fK3x1Yw8zR0", 1.5, 2.4, bytesOf},
		{"hex", "3b5d5c3712955042212316173ccf37be800a5b1c4f9e2d7a6b8c0d1e2f3a4b5c", 1.4, 2.2, bytesOf},
		{"Chinese", "每一个步骤都可以重复因为它首先查看日志", 1.4, 2, utf8.RuneCountInString},
		{"Russian", "каждый шаг можно повторить потому что он сначала смотрит в журнал", 1.6, 2.5, utf8.RuneCountInString},
		{"emoji", "😀😃😄😁😆", 0.4, 0.6, utf8.RuneCountInString},
		{"a ruler", strings.Repeat("-", 80), 12, 30, bytesOf},
		{"an indent", strings.Repeat(" ", 80), 12, 30, bytesOf},
	} {
		tokens := prompt.EstimateText(strings.Repeat(test.text, 20))
		if got := float64(20*test.of(test.text)) / float64(tokens); got < test.least || got > test.most {
			t.Errorf("%s: %.2f for a token, want %.1f to %.1f", test.name, got, test.least, test.most)
		}
	}
	if got := prompt.EstimateText(""); got != 0 {
		t.Errorf("nothing is %d tokens", got)
	}
}

func bytesOf(s string) int { return len(s) }

func TestEstimateTextAddsUp(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9+/ {}"-]*`), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		a, b := piece.Draw(t, "a"), piece.Draw(t, "b")
		one, two, both := prompt.EstimateText(a), prompt.EstimateText(b), prompt.EstimateText(a+b)
		if both > one+two+1 || both < one+two-2 || both < max(one, two)-1 {
			t.Fatalf("%d and %d are %d", one, two, both)
		}
		if as := prompt.EstimateText([]byte(a)); as != one {
			t.Fatalf("as bytes it is %d, not %d", as, one)
		}
	})
}

func TestEstimateParts(t *testing.T) {
	t.Parallel()
	image := func(size int) pawl.File {
		return pawl.File{Name: "a", MediaType: "image/png", Data: make([]byte, size)}
	}
	small, mid, large := prompt.EstimateParts(pawl.Parts{image(1)}), prompt.EstimateParts(pawl.Parts{image(100_000)}), prompt.EstimateParts(pawl.Parts{image(5 << 20)})
	if small < 500 || mid <= small || large <= mid || large > 5000 {
		t.Errorf("images are %d, %d and %d tokens", small, mid, large)
	}
	text := strings.Repeat("Some words. ", 100)
	words := prompt.EstimateText(text)
	for name, part := range map[string]pawl.Part{
		"text":      pawl.Text{Text: text},
		"reasoning": pawl.Reasoning{Text: text},
		"sealed":    pawl.Reasoning{Signature: strings.Repeat("x", 5*words)},
		"call":      pawl.ToolCall{Name: "read", Input: json.RawMessage(text)},
		"result":    pawl.ToolResult{Content: text},
		"text file": pawl.File{MediaType: "text/plain", Data: []byte(text)},
		"its file":  pawl.ToolResult{Files: []pawl.File{{MediaType: "text/plain", Data: []byte(text)}}},
	} {
		if got := prompt.EstimateParts(pawl.Parts{part}); got < words || got > words+60 {
			t.Errorf("%s: %d tokens for %d of text", name, got, words)
		}
	}
	if got := prompt.EstimateParts(pawl.Parts{pawl.Patch{Diff: text}}); got != 0 {
		t.Errorf("a patch, which no model sees, is %d tokens", got)
	}
	specs := []toolapi.Spec{{Name: "read", Description: text, Schema: json.RawMessage(`{}`)}}
	if got := prompt.EstimateTools(specs); got < words || prompt.EstimateTools(nil) != 0 {
		t.Errorf("a tool is %d tokens, none is %d", got, prompt.EstimateTools(nil))
	}
}

func TestEstimateAllocatesNothing(t *testing.T) { //nolint:paralleltest // it counts allocations
	messages := long(t, 2, 5)
	if n := testing.AllocsPerRun(10, func() { prompt.Estimate(messages) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCounted(t *testing.T) {
	t.Parallel()
	var c prompt.Counted
	messages := []pawl.Message{
		{Seq: 3, Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "Go."}}},
		{Seq: 5, Role: pawl.RoleAssistant, Parts: pawl.Parts{pawl.ToolCall{ID: "a", Name: "read"}}},
		{Seq: 5, Role: pawl.RoleTool, Parts: pawl.Parts{pawl.ToolResult{Call: "a", Content: strings.Repeat("a result ", 1000)}}},
		{Seq: 8, Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "And?"}}},
	}
	size := func(c prompt.Counted, messages []pawl.Message) int {
		var s prompt.Sizes
		_, counted := s.Size(messages, prompt.Budget{}, 70, c)
		return counted
	}
	if got, want := size(c, messages), prompt.Estimate(messages)+70; got != want {
		t.Errorf("before the first reply: %d, want %d", got, want)
	}
	c.Apply(pawl.Event{Seq: 5, Body: pawl.Replied{Finish: pawl.FinishToolUse, Usage: pawl.Usage{Input: 10, CacheRead: 1000, CacheWrite: 200, Output: 50, Reasoning: 20}}})
	for name, body := range map[string]pawl.Body{
		"canceled":  pawl.Replied{Finish: pawl.FinishCanceled, Usage: pawl.Usage{Input: 1, Output: 1}},
		"uncounted": pawl.Replied{Finish: pawl.FinishEndTurn},
		"half":      pawl.Replied{Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Input: 5}},
		"other":     pawl.TurnFinished{Usage: pawl.Usage{Input: 5, Output: 5}},
	} {
		if c.Apply(pawl.Event{Seq: 9, Body: body}); c != (prompt.Counted{Known: 1260, At: 5}) {
			t.Errorf("%s: got %+v", name, c)
		}
	}
	if got, want := size(c, messages), 1260+prompt.Estimate(messages[2:]); got != want {
		t.Errorf("after the reply: %d, want %d", got, want)
	}
	if got := size(c, messages[:2]); got != 1260 {
		t.Errorf("with nothing after it: %d", got)
	}
	for _, test := range []struct {
		body pawl.Body
		void bool
	}{
		{pawl.Compacted{Message: "failed"}, false},
		{pawl.Undone{Refused: "no"}, false},
		{pawl.Compacted{Keep: 3}, true},
		{pawl.Undone{}, true},
	} {
		c := c
		if c.Apply(pawl.Event{Seq: 10, Body: test.body}); (c == prompt.Counted{}) != test.void {
			t.Errorf("%+v: got %+v", test.body, c)
		}
	}
}

// What was cleared since the count is no longer there.
func TestCountedKnowsOfClearing(t *testing.T) {
	t.Parallel()
	messages := long(t, 1, 40) // of 1,200 tokens each
	budget := prompt.Budget{Context: 40_000, Input: 30_000}
	var s prompt.Sizes
	for n := 11; n < len(messages); n += 2 {
		estimated, _ := s.Size(messages[:n], budget, 0, prompt.Counted{})
		// The provider counts what it is sent as we do, and the next reply is counted with it.
		c := prompt.Counted{Known: estimated + prompt.EstimateMessage(messages[n]), At: messages[n].Seq}
		want, got := s.Size(messages[:n+2], budget, 0, c)
		if got != want {
			t.Fatalf("%d messages: counted %d, and it is %d", n+2, got, want)
		}
	}
	if all, _ := s.Size(messages, budget, 0, prompt.Counted{}); all > 30_000 {
		t.Errorf("nothing was cleared: %d", all)
	}
}

func TestClear(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789 line\n", 2000)
	truncated := big + "\n… 9 bytes left out: read blob:" + blob + " to see all …\n" + big
	turn := func(seq pawl.Seq, id pawl.CallID, r pawl.ToolResult) []pawl.Message {
		r.Call = id
		return []pawl.Message{
			{Seq: seq, Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "Go."}}},
			{Seq: seq + 1, Role: pawl.RoleAssistant, Parts: pawl.Parts{pawl.ToolCall{ID: id, Name: "read", Input: json.RawMessage(`{}`)}}},
			{Seq: seq + 1, Role: pawl.RoleTool, Parts: pawl.Parts{r}},
			{Seq: seq + 2, Role: pawl.RoleAssistant, Parts: pawl.Parts{pawl.Text{Text: "Done."}}},
		}
	}
	var messages []pawl.Message
	for i, r := range []pawl.ToolResult{
		{Content: big},
		{Content: truncated, IsError: true},
		{Content: "little"},
		{Content: "a picture", Files: []pawl.File{{Name: "a.png", MediaType: "image/png", Data: make([]byte, 1<<20)}}},
		{Content: big}, {Content: big}, {Content: big}, {Content: big},
	} {
		messages = append(messages, turn(pawl.Seq(10*i), pawl.CallID(fmt.Sprint(i)), r)...)
	}
	got := prompt.Clear(messages, 45_000)
	want := []string{
		"[The result of read was cleared to save space: 32,000 bytes in 2,000 lines. Its effects remain. To read it again: by the same call if it only reads.]",
		"[The result of read was cleared to save space: 64,113 bytes in 4,002 lines. Its effects remain. To read it again: read blob:" + blob + ", or by the same call if it only reads.]",
		"little",
		"[The result of read was cleared to save space: 9 bytes in 1 line and 1 file. Its effects remain. To read it again: by the same call if it only reads.]",
		big, big, big, big,
	}
	for i, text := range want {
		r := got[4*i+2].Parts[0].(pawl.ToolResult)
		if r.Content != text || i < 4 && len(r.Files) > 0 || r.IsError != (i == 1) {
			t.Errorf("result %d: got %.300q", i, r.Content)
		}
	}
	for i, m := range got {
		if m.Role != pawl.RoleTool && !cmp.Equal(m, messages[i]) {
			t.Errorf("message %d has changed", i)
		}
	}
	// As many tokens in one turn: its older results go too.
	one := long(t, 1, 100)
	if got := prompt.Estimate(prompt.Clear(one, 1000)); got > prompt.Estimate(one)/5 {
		t.Errorf("%d tokens are left of a long turn", got)
	}
	if n := len(one); !cmp.Equal(prompt.Clear(one, 1)[n-1], one[n-1]) {
		t.Error("the newest results were cleared")
	}
	if few := messages[:12]; !cmp.Equal(prompt.Clear(few, 40_000), few) {
		t.Error("fewer tokens than are protected were cleared")
	}
}

func TestTruncateSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	messages := long(t, 4, 10)
	touched := func(id pawl.CallID) []string { return []string{"/p/" + string(id[:6]), "a\nb"} }
	out := prompt.DropMiddle(messages, 20_000, touched)
	const want = `[54 messages omitted here to save space. They had 25 tool calls (read 25), whose effects remain. Files that they touched: "/p/call_0", "a\nb", "/p/call_1", "/p/call_2". Look again at what you need to know of them.]`
	if diff := cmp.Diff(want, out[1].Text()); diff != "" || out[1].Role != pawl.RoleUser {
		t.Error(diff)
	}
	if rest := len(messages) - 55; !cmp.Equal(out[2:], messages[55:]) || rest != len(out)-2 {
		t.Errorf("the rest has changed, or %d is not %d", rest, len(out)-2)
	}
}

func TestTruncateCutsTheLastTurn(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("head ", 2000) + "\n… 9 bytes left out: read blob:" + blob + " to see all …\n" + strings.Repeat("tail ", 20_000)
	messages := []pawl.Message{
		{Seq: 3, Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "Go."}}},
		{Seq: 5, Role: pawl.RoleAssistant, Parts: pawl.Parts{pawl.ToolCall{ID: "a", Name: "bash"}, pawl.ToolCall{ID: "b", Name: "read"}}},
		{Seq: 5, Role: pawl.RoleTool, Parts: pawl.Parts{pawl.ToolResult{Call: "a", Content: big}, pawl.ToolResult{Call: "b", Content: "little"}}},
	}
	out := prompt.DropMiddle(messages, 5000, nil)
	cut := out[2].Parts[0].(pawl.ToolResult).Content
	if got := prompt.Estimate(out); got > 5000 || got < 2000 {
		t.Errorf("it takes %d tokens", got)
	}
	if !strings.HasPrefix(cut, "head head") || !strings.HasSuffix(cut, "tail tail ") || !strings.Contains(cut, "bytes omitted to save space: read blob:"+blob+" to see all …") {
		t.Errorf("it was cut to %s", cut)
	}
	if got := out[2].Parts[1].(pawl.ToolResult).Content; got != "little" || len(out) != 3 {
		t.Errorf("the small result is %q", got)
	}
}

func TestCutText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringN(1, 20, -1).Draw(t, "piece"), rapid.IntRange(0, 200).Draw(t, "times"))
		limit := rapid.IntRange(0, 500).Draw(t, "limit")
		cut := prompt.CutText(text, limit)
		if !utf8.ValidString(cut) || len(cut) > len(text) || len(cut) > limit+100 && cut != text {
			t.Fatalf("%d bytes were cut to %d: %q", len(text), len(cut), cut)
		}
	})
}

// What must stay gives way by degrees, and no further than it must.
func TestTruncateByDegrees(t *testing.T) {
	t.Parallel()
	image := pawl.File{Name: "a.png", MediaType: "image/png", Data: make([]byte, 1000)}
	turn := func(steps int, r pawl.ToolResult) []pawl.Message {
		messages := []pawl.Message{{Seq: 1, Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "Go."}}}}
		for i := range steps {
			r.Call = pawl.CallID(fmt.Sprint(i))
			messages = append(messages,
				pawl.Message{Seq: pawl.Seq(i + 2), Role: pawl.RoleAssistant, Parts: pawl.Parts{pawl.ToolCall{ID: r.Call, Name: "read"}}},
				pawl.Message{Seq: pawl.Seq(i + 2), Role: pawl.RoleTool, Parts: pawl.Parts{r}})
		}
		return messages
	}
	text := strings.Repeat("a word or two\n", 2000)
	for _, test := range []struct {
		name     string
		messages []pawl.Message
		budget   int
		steps    int // that stay
		bytes    int // about what their results have then
		files    int
	}{
		{"all fits", turn(10, pawl.ToolResult{Content: text}), 80_000, 10, 28_000, 0},
		{"steps go", turn(10, pawl.ToolResult{Content: text}), 40_000, 5, 28_000, 0},
		{"then results are cut", turn(10, pawl.ToolResult{Content: text}), 8000, 4, 8000, 0},
		{"then more steps go", turn(10, pawl.ToolResult{Content: text}), 1500, 1, 4000, 0},
		{"then results are cut to almost nothing", turn(10, pawl.ToolResult{Content: text}), 300, 1, 500, 0},
		{"files stay while they can", turn(1, pawl.ToolResult{Content: text, Files: []pawl.File{image}}), 2000, 1, 4000, 1},
		{"then they go", turn(1, pawl.ToolResult{Content: text, Files: []pawl.File{image}}), 500, 1, 200, 0},
		{"nothing fits", turn(10, pawl.ToolResult{Content: text, Files: []pawl.File{image}}), 10, 1, 200, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := prompt.DropMiddle(test.messages, test.budget, nil)
			steps, size, files := 0, 0, 0
			for _, m := range out {
				if m.Role == pawl.RoleTool {
					r := m.Parts[0].(pawl.ToolResult)
					steps, size, files = steps+1, len(r.Content), len(r.Files)
				}
			}
			if steps != test.steps || files != test.files || size < test.bytes || size > test.bytes+150 {
				t.Errorf("%d steps stay, with results of %d bytes and %d files", steps, size, files)
			}
			if got := prompt.Estimate(out); got > test.budget && test.budget > 10 {
				t.Errorf("it takes %d tokens", got)
			}
		})
	}
}

// The words on what is missing count too, and are bounded.
func TestTruncateBoundsItsWords(t *testing.T) {
	t.Parallel()
	messages := long(t, 1, 60)
	touched := func(id pawl.CallID) []string {
		return []string{strings.Repeat("x0", 250) + string(id), string(id) + strings.Repeat("y1", 250), string(id)}
	}
	for budget := 12_000; budget < 16_000; budget += 40 {
		out := prompt.DropMiddle(messages, budget, touched)
		if got := prompt.Estimate(out); got > budget {
			t.Fatalf("%d tokens, more than %d", got, budget)
		}
		if newest := len(out) - 8; !cmp.Equal(out[newest:], messages[len(messages)-8:]) {
			t.Fatal("results were cut, where steps could go")
		}
		if n := len(out[1].Text()); n < 1000 || n > 4000 {
			t.Fatalf("a word of %d bytes", n)
		}
	}
}
