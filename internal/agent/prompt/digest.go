package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// What the parts of a digest take at most, in bytes, where the window is large.
const (
	taskBytes    = 8000
	summaryBytes = 24_000
	listBytes    = 8000
	skillBytes   = 8000 // of the skills' texts, all together
	digestShares = 16   // for each token of the room a part has three bytes over this
)

// How much a digest's lists name at most.
const (
	digestTodos  = 50
	digestFiles  = 100
	digestSkills = 20
	skillTexts   = 3 // of those
	todoBytes    = 300
	fileBytes    = 200
	nameBytes    = 64
)

// Digest is what stands in place of the older part of a conversation. All but
// the summary pawl knows itself, so no model can lose it.
type Digest struct {
	Task    string // what the person began with
	Prompt  string // what they asked for in the open turn; "" if it stays, or is the task
	Summary string // by a model
	Todos   []pawl.Todo
	Files   []string // that were written to
	Skills  []Skill  // that were loaded, the newest last
}

// Skill is one that was loaded.
type Skill struct {
	Name string
	Text string // what the tool returned; "" if it is not given again
}

// MaxSkillText is how long a skill's text can be to be given again.
const MaxSkillText = skillBytes

// Bound returns the digest with its parts cut to what there is room for.
func (d Digest) Bound(r Room) Digest {
	share := func(most, times int) int {
		if r.Input == 0 {
			return most
		}
		return min(most, times*max(3*r.Input/digestShares, 100))
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
	d.Skills = giveAgain(d.Skills, share(skillBytes, 1))
	return d
}

// giveAgain returns the skills with the texts of the newest ones, as far as there
// is room. A text is whole or it is not there: half of an instruction misleads.
func giveAgain(skills []Skill, bytes int) []Skill {
	given := slices.Clone(skills)
	texts := 0
	for i := len(given) - 1; i >= 0; i-- {
		switch size := len(given[i].Text); {
		case size == 0:
		case texts < skillTexts && size <= bytes:
			texts++
			bytes -= size
		default:
			given[i].Text = ""
		}
	}
	return given
}

// cutOnce is [cutText] for what may have been cut before: that is not cut again.
func cutOnce(text string, limit int) string {
	const word = 200 // what stands between head and tail
	if len(text) <= limit+word {
		return text
	}
	return cutText(text, limit)
}

// newest returns the last items, so many and of so many bytes at most.
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
	section("What was done and found", d.Summary)
	section("Open todos", lineEach(d.Todos, func(t pawl.Todo) string {
		return fmt.Sprintf("[%s] %.*q", t.Status, todoBytes, t.Content)
	}))
	section("Files written so far", lineEach(d.Files, func(f string) string {
		return fmt.Sprintf("%.*q", fileBytes, f) // a name may hold anything
	}))
	if len(d.Skills) > 0 {
		section("Skills that were loaded", skillsAgain+lineEach(d.Skills, Skill.again))
	}
	return b.String()
}

const skillsAgain = "Follow them as far as they serve the task. One that has no text here can be loaded again, with the tool skill.\n\n"

// again is the skill's name and its text. The text is a stranger's: each line of it
// is indented, so that none can pass for a part of the digest.
func (s Skill) again() string {
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
