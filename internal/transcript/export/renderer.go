package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// shown sanitizes a text.
func shown(s string) string {
	return sanitize.Text(s)
}

// blocks returns what is shown of an item.
func blocks(it transcript.Item) []block {
	switch it.Kind {
	case transcript.KindUser:
		return []block{said(named(promptLabel(it), it.By), "you", it.Text, attachments(it.Files))}
	case transcript.KindText:
		return []block{said("Pawl", "pawl", it.Text, nil)}
	case transcript.KindReasoning:
		return []block{fold("Reasoning", "", it.Text)}
	case transcript.KindCall:
		return []block{callBlock(it)}
	case transcript.KindAsk:
		return askBlocks(it)
	case transcript.KindTodos:
		return []block{fold("Todo list", "", todos(it.Todos))}
	case transcript.KindSubagent:
		return []block{note("Subagent", fmt.Sprintf("%s %s: %s", it.Subagent.Subagent, it.Subagent.Agent, it.Text))}
	case transcript.KindMission:
		return []block{noteOrFold("Mission", it)}
	case transcript.KindNote:
		return []block{noteOrFold(named("Note", it.By), it)}
	case transcript.KindTurnEnd:
		label := fmt.Sprintf("Turn %d ended: %s, %s", it.Turn, humanize.Plural(it.End.Steps, "step"), used(it.End.Usage))
		return []block{note(label, it.Text)}
	}
	return nil
}

func promptLabel(it transcript.Item) string {
	switch {
	case it.State == transcript.StateWaiting:
		return "You (waiting)"
	case it.Steered:
		return "You (steering)"
	}
	return "You"
}

func note(label, name string) block {
	return block{Kind: noteBlock, Label: label, Name: line(name, 1000)}
}

func fold(label, name, text string) block {
	return block{Kind: foldBlock, Label: label, Name: line(name, 1000), Parts: []part{{Text: cut(text, maxDetail)}}}
}

// noteOrFold returns a line, which is folded if there are details.
func noteOrFold(label string, it transcript.Item) block {
	if it.More == "" {
		return note(label, it.Text)
	}
	b := fold(label+":", it.Text, it.More)
	b.Failed = it.Level == transcript.LevelWarn || it.Level == transcript.LevelBad
	return b
}

func said(label, who, text string, files []file) block {
	return block{Kind: sayBlock, Label: label, Who: who, Text: cut(text, maxSaid), Files: files}
}

// named returns a label with the actor, unless it is the user who runs pawl.
func named(label string, by pawl.Actor) string {
	if by == (pawl.Actor{}) {
		return label
	}
	return label + ", by " + line(by.String(), 200)
}

func attachments(files []pawl.File) []file {
	var list []file
	for _, f := range files {
		list = append(list, file{Name: line(fmt.Sprintf("%s (%s)", f.Name, f.MediaType), 300), Size: len(f.Data), File: f})
	}
	return list
}

// askLabels say what is asked.
var askLabels = map[pawl.AskKind]string{
	pawl.AskQuestion: "Pawl asks", pawl.AskPlan: "Pawl proposes a plan", pawl.AskPermission: "Pawl asks for permission", pawl.AskLoop: "Pawl asks",
}

// askBlocks returns an ask and its answer.
func askBlocks(it transcript.Item) []block {
	text := it.Ask.Text
	for _, q := range it.Ask.Questions {
		text += "\n\n" + q.Header + ": " + q.Question
		for _, o := range q.Options {
			text += strings.TrimSuffix("\n- "+o.Label+": "+o.Description, ": ")
		}
	}
	label := askLabels[it.Ask.Kind]
	if label == "" {
		label = "Pawl asks"
	}
	list := []block{said(label, "pawl", strings.TrimSpace(text), nil)}
	if a := it.Ask.Answer; a != nil {
		list = append(list, answerBlock(*a, it.By))
	}
	return list
}

func answerBlock(a pawl.Answer, by pawl.Actor) block {
	if a.Outcome != pawl.OutcomeAnswered && a.Text == "" {
		return note(named("Answer", by), string(a.Outcome))
	}
	lines := []string{string(a.Outcome)}
	for _, chosen := range a.Answers {
		lines = append(lines, strings.Join(chosen, "; "))
	}
	for _, rule := range a.Always {
		lines = append(lines, "always allow: "+string(rule))
	}
	if a.Text != "" {
		lines = append(lines, a.Text)
	}
	return said(named("Your answer", by), "you", strings.Join(lines, "\n"), nil)
}

func todos(list []pawl.Todo) string {
	var lines []string
	for _, t := range list {
		lines = append(lines, fmt.Sprintf("%s: %s", t.Status, t.Content))
	}
	return strings.Join(lines, "\n")
}

// callBlock returns a tool call, or a shell command of the user, with its result.
func callBlock(it transcript.Item) block {
	c := it.Call
	b := block{Kind: foldBlock, Label: "Tool call", Name: line(c.Tool+" "+string(c.Input), 120),
		Parts: []part{{Label: "Input", Name: line(c.Tool, 100), Lang: "json", Text: cut(indented(c.Input), maxDetail)}}}
	if c.User {
		command := shellCommand(c.Input)
		b.Label, b.Name, b.Parts = named("You ran", it.By), line(command, 120), []part{{Label: "Command", Text: cut(command, maxDetail)}}
	}
	if it.State != transcript.StateDone && it.State != transcript.StateFailed {
		b.Mark = "no result yet"
		return b
	}
	b.Mark = line(string(c.Status), 50)
	if c.Status == pawl.CallDone && c.Result.IsError {
		b.Mark = "failed"
	}
	b.Failed = it.State == transcript.StateFailed
	b.addResult(c.Result)
	return b
}

func indented(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return string(input)
	}
	return b.String()
}

func shellCommand(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(input, &in) // the transcript wrote it
	return in.Command
}

// addResult adds the result of a call.
func (b *block) addResult(r pawl.Result) {
	result := part{Label: "Result", Text: cut(r.Content, maxDetail)}
	if s := r.Full; s != nil {
		result.Label = fmt.Sprintf("Result (beginning and end of %d bytes)", s.Size)
	}
	b.Parts = append(b.Parts, result)
	for _, p := range r.Display {
		switch p := p.(type) {
		case pawl.Patch:
			b.Parts = append(b.Parts, part{Label: "Change to", Name: line(p.Path, 300), Lang: "diff", Text: cut(p.Diff, maxDetail)})
		case pawl.Text:
			b.Parts = append(b.Parts, part{Label: "Display", Text: cut(p.Text, maxDetail)})
		case pawl.ToolResult:
			b.Parts = append(b.Parts, part{Label: "Display", Text: cut(p.Content, maxDetail)})
		case pawl.Reasoning, pawl.ToolCall, pawl.File: // not shown
		}
	}
	b.Files = append(b.Files, attachments(r.Files)...)
}
