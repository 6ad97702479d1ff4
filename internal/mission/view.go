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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// ignore is the .gitignore that keeps mission files out of the project's commits.
const (
	ignore  = ".pawl/.gitignore"
	ignored = "/.gitignore\n/missions/\n/verification-checklist.md\n"
)

// writeFiles writes the mission's files into the project: the plan, which people may edit, and the checklist, which
// they may not.
func (c *Control) writeFiles(b missionapi.Journal, m *pawl.Mission) error {
	if len(m.Tasks) == 0 {
		return nil
	}
	root, err := os.OpenRoot(b.Dir()) // do not write through links in the project
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only closes the handle
	dir := Dir(b.Session())
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the mission files: %w", err)
	}
	if _, err := root.Stat(ignore); errors.Is(err, fs.ErrNotExist) { // keep the project's own
		if err := write(root, ignore, ignored); err != nil {
			return err
		}
	}
	todo := filepath.Join(dir, "TODO.md")
	if _, edited := readPlan(root, todo); !edited { // an edited plan must be read first
		if err := write(root, todo, withHash(Write(m.Order.Goal, m.Plan(), states(m)))); err != nil {
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

// hashPrefix starts the last line of a plan written by Pawl, followed by the hash of the text before it. If the hash
// does not match, a person has edited the plan.
const hashPrefix = "<!-- pawl: "

var hashLine = regexp.MustCompile(`^` + hashPrefix + `[0-9a-f]* -->`)

func withHash(text string) string { return text + "\n" + hashPrefix + hashOf(text) + " -->\n" }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// maxPlanFile limits the file of a plan, in bytes.
const maxPlanFile = 4 << 20

// readPlan returns the text of a plan and whether a person has edited it.
func readPlan(root *os.Root, path string) (text string, edited bool) {
	if info, err := root.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxPlanFile {
		return "", false
	}
	data, err := root.ReadFile(path)
	if err != nil {
		return "", false
	}
	whole := string(data)
	i := strings.LastIndex(whole, "\n"+hashPrefix)
	if i < 0 {
		return whole, strings.TrimSpace(whole) != ""
	}
	text = whole[:i]
	if whole == withHash(text) {
		return text, false
	}
	return text + "\n" + hashLine.ReplaceAllString(whole[i+1:], ""), true // text after the hash line is an edit too
}

// readEdits takes over a person's edits of the plan. It moves an invalid plan aside and returns the problem.
func (c *Control) readEdits(ctx context.Context, b missionapi.Journal) (string, error) {
	root, err := os.OpenRoot(b.Dir())
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // only closes the handle
	path := filepath.Join(Dir(b.Session()), "TODO.md")
	text, edited := readPlan(root, path)
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
		return "", write(root, path, withHash(text)) // mark it as read; writeFiles writes it again
	}
	if !errors.Is(err, pawl.ErrInvalid) {
		return "", err
	}
	// Move it aside, so that it is reported once and not lost.
	aside := strings.TrimSuffix(path, ".md") + ".rejected.md"
	if err := errors.Join(write(root, aside, text), root.Remove(path)); err != nil {
		return "", err
	}
	b.Notice(fmt.Sprintf("Your edit of the plan was rejected: %v. It is saved in %s. Correct it in %s.", err, aside, path))
	return fmt.Sprintf("The user has edited the plan, and the edit cannot be taken over (it is in %s): %v", aside, err), nil
}

// PlanFile returns the path of a mission's plan.
func PlanFile(dir string, id pawl.SessionID) string { return filepath.Join(dir, Dir(id), "TODO.md") }

// EditedPlan returns the plan in a mission's file if a person has edited it since Pawl wrote it, and otherwise nil. An
// edit that is not a plan is ErrInvalid, with the line.
func EditedPlan(dir string, id pawl.SessionID) (*pawl.Plan, error) {
	root, err := os.OpenRoot(dir) // do not read through links in the project
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it is on another host
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only closes the handle
	text, edited := readPlan(root, filepath.Join(Dir(id), "TODO.md"))
	if !edited {
		return nil, nil
	}
	plan, err := Read(text)
	if err != nil {
		return nil, fault.New(err, "the edited plan is invalid: %w", err).Hint("Correct %s, or delete it to get the plan of the mission back.", PlanFile(dir, id))
	}
	return &plan, nil
}

// writeEdit writes a plan to a mission's file as an edit, which the mission reads like that of a person.
func writeEdit(b pawl.Board, p pawl.Plan) error {
	m := b.Mission
	if err := m.Try(pawl.Planned{Plan: p, By: "user"}); err != nil {
		return fault.New(pawl.ErrInvalid, "the plan is invalid: %w", err)
	}
	text := Write(m.Order.Goal, p, states(&m))
	if read, err := Read(text); err != nil || read.Hash() != p.Hash() {
		return fault.New(pawl.ErrInvalid, "the plan has a title, a file or a criterion that does not fit on a line of TODO.md")
	}
	root, err := os.OpenRoot(b.Session.Dir) // do not write through links in the project
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(pawl.ErrInvalid, "the files of mission %s are on another host", b.Session.ID)
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only closes the handle
	dir := Dir(b.Session.ID)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return write(root, filepath.Join(dir, "TODO.md"), text)
}

// Checklist returns the criteria as a Markdown task list. Only Pawl ticks items: when the gate has passed
// on the merged commit, or for a check when it has passed there.
func Checklist(m *pawl.Mission) string {
	var b strings.Builder
	b.WriteString("<!-- Written by Pawl from its own checks. Your edits have no effect. -->\n")
	if m.Criteria == nil {
		return b.String()
	}
	holds := m.Gate != nil && len(m.Gate.Faults) == 0
	tick := func(ok bool) string {
		if ok {
			return "x"
		}
		return " "
	}
	b.WriteString("\n## Checks\n\n")
	for _, c := range m.Criteria.Checks {
		fmt.Fprintf(&b, "- [%s] **%s**: %s\n", tick(holds || passed(m, c.ID)), c.ID, oneLine(c.String()))
	}
	category := ""
	for _, c := range m.Criteria.Criteria {
		if head := oneLine(c.Category); category == "" || head != category && head != "" {
			category = head
			if category == "" {
				category = "Criteria"
			}
			fmt.Fprintf(&b, "\n## %s\n\n", category)
		}
		fmt.Fprintf(&b, "- [%s] **%s**: %s\n", tick(holds), c.ID, oneLine(c.Text))
	}
	return b.String()
}

// passed reports whether a check passed in the latest gate run.
func passed(m *pawl.Mission, check string) bool {
	if m.Gate == nil {
		return false
	}
	ok := false
	for _, r := range m.Runs {
		if r.Check == check && r.Tree == m.Gate.Tree {
			ok = r.OK()
		}
	}
	return ok
}

// write replaces a file atomically, unless it has the text already.
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
