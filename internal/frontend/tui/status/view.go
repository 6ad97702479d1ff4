package status

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

const (
	fullAt      = 80 // percent of the context window from which it is a warning
	unboxedMode = "yolo"
	noSandbox   = "none"
)

// spinner are the frames of the spinner.
var spinner = []string{"◐", "◓", "◑", "◒"}

// piece is a part of the line. If there is no space, all parts are shortened before
// one is dropped.
type piece struct {
	weight int
	tone   lipgloss.Style
	forms  []form // longest first
	right  bool   // aligned right
}

// form is a sanitized text and its width.
type form struct {
	text  string
	cells int
}

// formsOf omits empty and repeated forms.
func formsOf(texts ...string) []form {
	var forms []form
	for _, t := range slices.Compact(texts) {
		if t = sanitize.Line(t); t != "" {
			forms = append(forms, form{t, ansi.StringWidth(t)})
		}
	}
	return forms
}

// View draws the line in at most that many cells.
func (l *Line) View(width int, n Now) string {
	pieces := fit(l.pieces(n), width)
	var left, right []string
	for _, p := range pieces {
		if p.right {
			right = append(right, p.tone.Render(p.forms[0].text))
		} else {
			left = append(left, p.tone.Render(p.forms[0].text))
		}
	}
	dot := l.shared.Styles.Muted.Render(" · ")
	line := " " + strings.Join(left, dot)
	end := strings.Join(right, dot)
	if gap := width - ansi.StringWidth(line) - ansi.StringWidth(end) - 1; end != "" && gap > 0 {
		line += strings.Repeat(" ", gap) + end
	}
	return ansi.Truncate(line, max(0, width), "…")
}

// fit shortens pieces and, if that is not enough, drops them. The least important go
// first; the last one is truncated.
func fit(pieces []piece, width int) []piece {
	for total(pieces) > width {
		i := lightest(pieces, func(p piece) bool { return len(p.forms) > 1 })
		if i < 0 {
			break
		}
		pieces[i].forms = pieces[i].forms[1:]
	}
	for len(pieces) > 1 && total(pieces) > width {
		i := lightest(pieces, func(piece) bool { return true })
		pieces = slices.Delete(pieces, i, i+1)
	}
	return pieces
}

// lightest finds the least important of the matching pieces; -1 if no piece matches.
func lightest(pieces []piece, meant func(piece) bool) int {
	best := -1
	for i, p := range pieces {
		if meant(p) && (best < 0 || p.weight < pieces[best].weight) {
			best = i
		}
	}
	return best
}

// total returns the width of pieces with their separators.
func total(pieces []piece) int {
	n := 1
	for i, p := range pieces {
		if n += p.forms[0].cells; i > 0 {
			n += 3
		}
	}
	return n
}

// pieces returns all parts in order.
func (l *Line) pieces(n Now) []piece {
	s := l.shared.Styles
	var all []piece
	add := func(weight int, tone lipgloss.Style, texts ...string) {
		if forms := formsOf(texts...); len(forms) > 0 {
			all = append(all, piece{weight: weight, tone: tone, forms: forms})
		}
	}
	if l.working {
		works := spinner[l.frame%len(spinner)]
		if !l.since.IsZero() {
			works += " " + humanize.Clock(l.now().Sub(l.since))
		}
		add(100, s.Accent, works)
		if key := l.shared.Keys.Key(keys.Interrupt); key != "" {
			add(35, s.Muted, key+" to interrupt")
		}
	}
	if n.Away {
		add(95, s.Warn, "↓ more")
	}
	add(92, s.Accent, n.Mission)
	add(80, s.Muted, n.Settings.Model, shortModel(n.Settings.Model))
	add(50, s.Muted, n.Settings.Agent)
	mode := cmp.Or(n.Settings.Mode, n.Folder.Mode)
	l.safety(mode, n, add)
	if n.Isolated {
		add(84, s.Accent, "isolated")
	}
	l.window(n, add)
	if c := l.session.Usage.Cost; c > 0 {
		add(60, s.Muted, humanize.Dollars(c))
	}
	if u := l.session.Usage; u.CacheRead > 0 {
		add(30, s.Muted, fmt.Sprintf("%d%% cached", 100*u.CacheRead/(u.Input+u.CacheRead+u.CacheWrite)))
	}
	if n.Queued > 0 {
		add(65, s.Accent, fmt.Sprintf("%d queued", n.Queued))
	}
	if n.Tasks > 0 {
		add(66, s.Accent, humanize.Plural(n.Tasks, "subagent")+" in the background", humanize.Plural(n.Tasks, "subagent"))
	}
	if n.Folder.Dir != "" {
		all = append(all, piece{weight: 20, tone: s.Muted, right: true, forms: formsOf(place(n.Folder)...)})
	}
	return all
}

// window shows how full the context window is.
func (l *Line) window(n Now, add func(int, lipgloss.Style, ...string)) {
	s := l.shared.Styles
	used := n.Reply.Tokens()
	if used == 0 {
		return
	}
	contextWindow := l.models[n.Settings.Model].Context
	if contextWindow <= 0 {
		add(55, s.Muted, humanize.Short(used)+" tokens", humanize.Short(used))
		return
	}
	percent := 100 * used / int64(contextWindow)
	tone, weight := s.Muted, 70
	if percent >= fullAt {
		tone, weight = s.Warn, 90
	}
	add(weight, tone, fmt.Sprintf("%d%% of %s", percent, humanize.Short(int64(contextWindow))), fmt.Sprintf("%d%%", percent))
}

// safety shows the permission mode and the sandbox.
func (l *Line) safety(mode string, n Now, add func(int, lipgloss.Style, ...string)) {
	s, tone, sandbox := l.shared.Styles, l.shared.Styles.Muted, n.Folder.Sandbox
	if mode == unboxedMode {
		tone, sandbox = s.Warn, noSandbox
	}
	if n.Next != "" && n.Next != mode {
		add(85, tone, mode+", next: "+n.Next, mode)
	} else {
		add(85, tone, mode)
	}
	switch sandbox {
	case "": // unknown
	case noSandbox:
		add(82, s.Warn, "no sandbox")
	default:
		add(40, s.Muted, "sandbox")
	}
}

// shortModel returns a model's name without its provider or path.
func shortModel(ref string) string {
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// place returns the directory and its git branch.
func place(f pawl.Project) []string {
	base := filepath.Base(f.Dir)
	if f.Branch == "" {
		return []string{f.Dir, base}
	}
	return []string{f.Dir + " (" + f.Branch + ")", base + " (" + f.Branch + ")", base}
}
