package permission

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker collects the segments of a syntax tree.
type walker struct {
	wordReader
	segments []Segment
	dir      string
	dirs     []string
	calls    int
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// apart walks the statements of a subshell: its cd does not affect the rest.
func (w *walker) apart(list ...*syntax.Stmt) {
	dir := w.dir
	w.stmts(list)
	w.dir = dir
}

func (w *walker) stmt(s *syntax.Stmt) {
	if s.Background || s.Coprocess || s.Disown {
		defer func(dir string) { w.dir = dir }(w.dir)
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(cmd, s.Redirs)
		return
	case *syntax.Block:
		w.stmts(cmd.Stmts)
	case *syntax.Subshell:
		w.apart(cmd.Stmts...)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			w.stmts([]*syntax.Stmt{cmd.X, cmd.Y})
		} else {
			w.apart(cmd.X)
			w.apart(cmd.Y)
		}
	case *syntax.IfClause:
		for c := cmd; c != nil; c = c.Else {
			w.stmts(c.Cond)
			w.stmts(c.Then)
		}
	case *syntax.WhileClause:
		w.stmts(cmd.Cond)
		w.stmts(cmd.Do)
	case *syntax.CaseClause:
		w.caseClause(cmd)
	case *syntax.TimeClause:
		if cmd.Stmt == nil {
			w.head(cmd, "time without a command")
		} else {
			w.stmt(cmd.Stmt)
		}
	case nil:
		if len(s.Redirs) == 0 {
			w.head(s, "a statement without a command")
		}
	default:
		w.other(s.Cmd)
	}
	if len(s.Redirs) > 0 { // of a compound command, or of none
		seg := w.segment(s.Redirs[0], w.span(s.Redirs[0], s.Redirs))
		w.redirects(&seg, s.Redirs)
		w.add(seg)
	}
}

// other walks the commands that are never plain.
func (w *walker) other(c syntax.Command) {
	switch cmd := c.(type) {
	case *syntax.ForClause:
		w.head(cmd.Loop, "a loop that sets a variable")
		w.stmts(cmd.Do)
	case *syntax.FuncDecl:
		name := ""
		if cmd.Name != nil {
			name = cmd.Name.Value
		}
		seg := w.segment(cmd, name+"() …")
		seg.doubt("a function definition")
		w.add(seg)
		w.apart(cmd.Body)
	case *syntax.CoprocClause:
		w.head(cmd, "a coprocess")
		w.apart(cmd.Stmt)
	case *syntax.DeclClause:
		w.declare(cmd)
	case *syntax.TestClause:
		w.builtin(cmd, "[[", "a test that may evaluate text")
	case *syntax.ArithmCmd:
		w.builtin(cmd, "((", "arithmetic")
	case *syntax.LetClause:
		w.builtin(cmd, "let", "arithmetic")
	default:
		w.head(c, "an unknown construct")
	}
}

func (w *walker) segment(n syntax.Node, text string) Segment {
	if text == "" {
		text = w.raw(n)
	}
	return Segment{Text: text, Dir: w.dir}
}

func (w *walker) add(s Segment) { w.segments = append(w.segments, s) }

// head adds a segment for syntax that is no command but affects what runs.
func (w *walker) head(n syntax.Node, doubt string) {
	seg := w.segment(n, "")
	seg.doubt("%s", doubt)
	w.add(seg)
	if _, ok := n.(*syntax.CoprocClause); !ok { // whose command is walked as a statement
		w.nested(n)
	}
}

// builtin adds a segment for a builtin with its own syntax.
func (w *walker) builtin(n syntax.Node, name, doubt string) {
	seg := w.segment(n, "")
	seg.words = []word{{raw: name, text: name, known: true}, {raw: "…", doubt: doubt}}
	seg.doubt("%s", doubt)
	w.add(seg)
	w.nested(n)
}

func (w *walker) declare(d *syntax.DeclClause) {
	seg := w.segment(d, "")
	seg.words = []word{{raw: d.Variant.Value, text: d.Variant.Value, known: true}}
	for _, a := range d.Args {
		seg.words = append(seg.words, word{raw: w.raw(a), doubt: "a variable"})
	}
	seg.doubt("%s, which changes what later commands do", d.Variant.Value)
	w.add(seg)
	w.nested(d)
}

func (w *walker) caseClause(c *syntax.CaseClause) {
	words := []*syntax.Word{c.Word}
	for _, item := range c.Items {
		words = append(words, item.Patterns...)
	}
	for _, word := range words {
		if read := w.word(word); !read.known && hasExpansion(word) {
			w.head(word, read.doubt)
		}
	}
	for _, item := range c.Items {
		w.stmts(item.Stmts)
	}
}

// hasExpansion reports whether a word has a variable or a substitution, and is not
// merely a glob pattern.
func hasExpansion(w *syntax.Word) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			found = true
		}
		return !found
	})
	return found
}

// nested walks the commands in the substitutions below a node.
func (w *walker) nested(n syntax.Node) {
	syntax.Walk(n, func(node syntax.Node) bool {
		switch sub := node.(type) {
		case *syntax.CmdSubst:
			if sub.Backquotes {
				w.backquotes++
				defer func() { w.backquotes-- }()
			}
			w.apart(sub.Stmts...)
			return false
		case *syntax.ProcSubst:
			w.apart(sub.Stmts...)
			return false
		}
		return true
	})
}

// call adds a simple command, then those within it.
func (w *walker) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	w.calls++
	seg := w.segment(c, w.span(c, redirs))
	for _, a := range c.Assigns {
		name := ""
		if a.Name != nil {
			name = a.Name.Value
		}
		seg.doubt("a variable is set (%s)", name)
	}
	for _, arg := range c.Args {
		word := w.word(arg)
		if !word.known {
			seg.doubt("%s", word.doubt)
		}
		seg.words = append(seg.words, word)
	}
	if len(seg.words) > 0 && seg.words[0].known && changesShell[seg.words[0].text] {
		seg.doubt("%s, which changes what later commands do, or what this one runs", seg.words[0].text)
	}
	if len(seg.words) > 0 && reserved[seg.words[0].raw] {
		seg.doubt("a reserved word of the shell (%s)", seg.words[0].raw)
	}
	at := len(w.segments)
	w.add(seg)
	w.nested(c)
	w.redirects(&seg, redirs)
	w.segments[at] = seg
	w.changeDir(seg.words)
}

// span returns the source of a node with its redirects, without the text of
// here-documents.
func (w *walker) span(n syntax.Node, redirs []*syntax.Redirect) string {
	from, to := n.Pos().Offset(), n.Pos().Offset()
	if c, ok := n.(*syntax.CallExpr); ok {
		to = c.End().Offset()
	}
	for _, r := range redirs {
		from, to = min(from, r.Pos().Offset()), max(to, r.Word.End().Offset())
	}
	if from > to || to > uint(len(w.src)) {
		return ""
	}
	return w.src[from:to]
}

// reserved are the reserved words of bash.
var reserved = set("! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while")

// changesShell are builtins that run text, or change what later text means.
var changesShell = set(
	"eval source . exec trap alias unalias builtin command enable hash bind complete compgen compopt set shopt unset read mapfile readarray getopts",
	"export declare typeset readonly local let coproc fc history jobs ulimit umask",
)

const (
	maxDir  = 4096 // bytes of a directory that is followed: Linux knows no longer path
	maxDirs = 64   // directories that are followed
)

// changeDir follows a cd whose target is known.
func (w *walker) changeDir(words []word) {
	if len(words) == 0 || !words[0].known {
		return
	}
	switch words[0].text {
	case "pushd", "popd":
		w.dir = "?"
	case "cd":
		args := words[1:]
		for len(args) > 0 && args[0].known && slices.Contains([]string{"-L", "-P", "-e", "-@", "--"}, args[0].text) {
			args = args[1:]
		}
		switch {
		case len(args) == 0:
			w.dir = "~"
		case len(args) > 1 || !args[0].known || strings.HasPrefix(args[0].text, "-"):
			w.dir = "?"
		default:
			w.dir = joinDir(w.dir, args[0].text)
		}
	default:
		return
	}
	if len(w.dir) > maxDir || len(w.dirs) >= maxDirs {
		w.dir = "?"
	}
	if !slices.Contains(w.dirs, w.dir) {
		w.dirs = append(w.dirs, w.dir)
	}
}

// joinDir resolves a path against a directory as [Segment.Dir] spells them.
func joinDir(dir, p string) string {
	switch {
	case path.IsAbs(p) || strings.HasPrefix(p, "~"):
		return path.Clean(p)
	case dir == "?":
		return dir
	}
	joined := path.Join(dir, p)
	if joined == "." {
		return ""
	}
	return joined
}
