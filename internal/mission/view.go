package mission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
)

// ignore keeps what is shown of missions out of the project's commits.
const (
	ignore  = ".pawl/.gitignore"
	ignored = "/.gitignore\n/missions/\n/verification-checklist.md\n"
)

// show writes what people see of a mission into their project: the plan, which they
// may edit, and the list of what must hold, which they may not.
func (c *Control) show(b pawl.MissionJournal, m *pawl.Mission) error {
	if len(m.Tasks) == 0 {
		return nil
	}
	root, err := os.OpenRoot(b.Dir()) // nothing that the project links to is written
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it any more
	dir := Dir(b.Session())
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("show the mission: %w", err)
	}
	if _, err := root.Stat(ignore); errors.Is(err, fs.ErrNotExist) { // a project's own is left alone
		if err := write(root, ignore, ignored); err != nil {
			return err
		}
	}
	todo := filepath.Join(dir, "TODO.md")
	if _, edited := unread(root, todo); !edited { // else it is to be read first
		if err := write(root, todo, marked(Write(m.Order.Goal, m.Plan(), states(m)))); err != nil {
			return err
		}
	}
	return write(root, filepath.Join(".pawl", "verification-checklist.md"), Checklist(m))
}

func states(m *pawl.Mission) map[string]State {
	s := map[string]State{}
	for _, t := range m.Tasks {
		switch {
		case t.Phase == pawl.PhaseMerged:
			s[t.Task.ID] = Merged
		case t.Phase == pawl.PhaseRunning:
			s[t.Task.ID] = Working
		case t.Why != "" && t.Phase != pawl.PhaseDropped:
			s[t.Task.ID] = Returned
		}
	}
	return s
}

// mark is how the last line of a plan begins that pawl has written: with the hash of
// all before it. If it fits no more, a person has edited it.
const mark = "<!-- pawl: "

var markLine = regexp.MustCompile(`^` + mark + `[0-9a-f]* -->`)

func marked(text string) string { return text + "\n" + mark + hashOf(text) + " -->\n" }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// unread returns the text of a plan and whether a person has edited it.
func unread(root *os.Root, path string) (text string, edited bool) {
	data, err := root.ReadFile(path)
	if err != nil {
		return "", false
	}
	whole := string(data)
	i := strings.LastIndex(whole, "\n"+mark)
	if i < 0 {
		return whole, strings.TrimSpace(whole) != ""
	}
	text = whole[:i]
	if whole == marked(text) {
		return text, false
	}
	return text + "\n" + markLine.ReplaceAllString(whole[i+1:], ""), true // what stands behind it is a person's too
}

// readEdits takes in what a person has made of the plan. What cannot be read stays
// in the file, and is told.
func (c *Control) readEdits(ctx context.Context, b pawl.MissionJournal) (string, error) {
	root, err := os.OpenRoot(b.Dir())
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // nothing is written through it any more
	path := filepath.Join(Dir(b.Session()), "TODO.md")
	text, edited := unread(root, path)
	if !edited {
		return "", nil
	}
	plan, err := Read(text)
	if err == nil {
		err = plan.Check()
	}
	if err == nil && !reflect.DeepEqual(plan, b.Mission().Plan()) {
		err = b.Record(ctx, pawl.Planned{Plan: plan, By: "user"})
	}
	if err == nil {
		return "", write(root, path, marked(text)) // it is read; show writes it anew
	}
	if !errors.Is(err, pawl.ErrInvalid) {
		return "", err
	}
	// It is put aside, so that it is told once and not lost.
	aside := strings.TrimSuffix(path, ".md") + ".rejected.md"
	if err := errors.Join(write(root, aside, text), root.Remove(path)); err != nil {
		return "", err
	}
	return fmt.Sprintf("The user has edited the plan, and the edit cannot be taken over (it is in %s): %v", aside, err), nil
}

// Checklist is what must hold, as a list with boxes. Pawl alone ticks them: a box is
// ticked once the gate has found that nothing speaks against it, on what is merged.
func Checklist(m *pawl.Mission) string {
	var b strings.Builder
	b.WriteString("<!-- Written by pawl from what it has checked itself. An edit changes nothing. -->\n")
	if m.Frozen == nil {
		return b.String()
	}
	holds := m.Judged != nil && len(m.Judged.Faults) == 0
	box := func(ok bool) string {
		if ok {
			return "x"
		}
		return " "
	}
	b.WriteString("\n## Checks\n\n")
	for _, c := range m.Frozen.Checks {
		fmt.Fprintf(&b, "- [%s] **%s**: %s\n", box(holds || passed(m, c.ID)), c.ID, oneLine(c.String()))
	}
	category := ""
	for _, c := range m.Frozen.Criteria {
		if head := oneLine(c.Category); category == "" || head != category && head != "" {
			category = head
			if category == "" {
				category = "Criteria"
			}
			fmt.Fprintf(&b, "\n## %s\n\n", category)
		}
		fmt.Fprintf(&b, "- [%s] **%s**: %s\n", box(holds), c.ID, oneLine(c.Text))
	}
	return b.String()
}

// passed reports whether a check has passed on what the gate was last asked about.
func passed(m *pawl.Mission, check string) bool {
	if m.Judged == nil {
		return false
	}
	ok := false
	for _, r := range m.Runs {
		if r.Check == check && r.Tree == m.Judged.Tree {
			ok = r.OK()
		}
	}
	return ok
}

// write replaces a file whole, unless it has the text already.
func write(root *os.Root, path, text string) error {
	if old, err := root.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	temp := path + ".new"
	if err := root.WriteFile(temp, []byte(text), 0o644); err != nil { //nolint:gosec // it is for people to read
		return err
	}
	return root.Rename(temp, path)
}
