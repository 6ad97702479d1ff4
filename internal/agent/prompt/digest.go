package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// The limits of a digest's parts, in bytes, for a large context window.
const (
	taskBytes    = 8000
	summaryBytes = 24_000
	listBytes    = 8000
	skillBytes   = 8000 // the texts of all skills together
	digestShares = 16   // a part gets 3 bytes per token of the budget, divided by this
)

// The limits of a digest's lists.
const (
	digestTodos  = 50
	digestFiles  = 100
	digestSkills = 20
	skillTexts   = 3 // skills with their text
	todoBytes    = 300
	fileBytes    = 200
	nameBytes    = 64
)

// Digest replaces the older part of a conversation after a compaction. Only the summary comes
// from a model; pawl knows the rest itself, so no model can lose it.
type Digest struct {
	Task    string // the first prompt
	Prompt  string // the prompt of the open turn; "" if its message stays, or it is the task
	Summary string // written by a model
	Todos   []pawl.Todo
	Files   []string // that calls wrote to
	Skills  []Skill  // the newest last
}

// Skill is a skill that was loaded.
type Skill struct {
	Name string
	Text string // what the skill tool returned; "" if it is not repeated
}

// MaxSkillText is the longest text of a skill that a digest repeats, in bytes.
const MaxSkillText = skillBytes

// Bound returns the digest with its parts cut to the budget.
func (d Digest) Bound(b Budget) Digest {
	share := func(most, times int) int {
		if b.Input == 0 {
			return most
		}
		return min(most, times*max(3*b.Input/digestShares, 100))
	}
	d.Task = cutOnce(d.Task, share(taskBytes, 1))
	d.Prompt = cutOnce(d.Prompt, share(taskBytes, 1))
	d.Summary = cutOnce(d.Summary, share(summaryBytes, 2))
	d.Files = newest(d.Files, digestFiles, share(listBytes, 1), func(f string) int { return min(len(f), fileBytes) })
	d.Todos = slices.DeleteFunc(slices.Clone(d.Todos), func(t pawl.Todo) bool {
		return t.Status == pawl.TodoCompleted || t.Status == pawl.TodoCanceled
	})
	slices.Reverse(d.Todos) // the first ones matter most
	d.Todos = newest(d.Todos, digestTodos, share(listBytes, 1), func(t pawl.Todo) int { return min(len(t.Content), todoBytes) })
	slices.Reverse(d.Todos)
	d.Skills = newest(d.Skills, digestSkills, share(skillBytes, 1)/4, func(s Skill) int { return min(len(s.Name), nameBytes) })
	d.Skills = keepTexts(d.Skills, share(skillBytes, 1))
	return d
}

// keepTexts returns the skills with the texts of the newest ones that fit into this many bytes. A
// text is kept as a whole or not at all: half of an instruction misleads.
func keepTexts(skills []Skill, bytes int) []Skill {
	kept := slices.Clone(skills)
	texts := 0
	for i := len(kept) - 1; i >= 0; i-- {
		switch size := len(kept[i].Text); {
		case size == 0:
		case texts < skillTexts && size <= bytes:
			texts++
			bytes -= size
		default:
			kept[i].Text = ""
		}
	}
	return kept
}

// cutOnce is [cutText] for a text that may have been cut before, which it does not cut again.
func cutOnce(text string, limit int) string {
	const note = 200 // bytes of the note between head and tail
	if len(text) <= limit+note {
		return text
	}
	return cutText(text, limit)
}

// newest returns the last items: at most so many, with at most so many bytes.
func newest[T any](items []T, most, bytes int, size func(T) int) []T {
	from := len(items)
	for from > 0 && len(items)-from < most && bytes >= size(items[from-1]) {
		from--
		bytes -= size(items[from])
	}
	return items[from:]
}

const digestHead = "[This is a summary of the conversation so far, which was too long. What comes after it is word for word. " +
	"The state of files may have changed: look again at what you need.]"

// Text returns the digest as the model reads it.
func (d Digest) Text() string {
	var b strings.Builder
	b.WriteString(digestHead)
	section := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "\n\n# %s\n\n%s", title, text)
		}
	}
	section("The task, in the user's words", d.Task)
	section("What the user asked for last, in their words", d.Prompt)
	section("Progress and findings", d.Summary)
	section("Open todos", lineEach(d.Todos, func(t pawl.Todo) string {
		return fmt.Sprintf("[%s] %.*q", t.Status, todoBytes, t.Content)
	}))
	section("Files written so far", lineEach(d.Files, func(f string) string {
		return fmt.Sprintf("%.*q", fileBytes, f) // quoted: a name is untrusted text
	}))
	if len(d.Skills) > 0 {
		section("Skills that were loaded", skillsIntro+lineEach(d.Skills, Skill.item))
	}
	return b.String()
}

const skillsIntro = "Follow them as far as they serve the task. One that has no text here can be loaded again, with the tool skill.\n\n"

// item returns the skill's name and text. The text is untrusted: each line is indented, so that
// none can pass for a part of the digest.
func (s Skill) item() string {
	line := fmt.Sprintf("%.*q", nameBytes, s.Name)
	if s.Text == "" {
		return line
	}
	return line + ":\n" + indent(strings.TrimSpace(s.Text))
}

func lineEach[T any](items []T, line func(T) string) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("- " + line(item) + "\n")
	}
	return b.String()
}
