package permission

import (
	"regexp"
	"strings"
)

// riskyOptions are a program's options that run other programs, write files or
// delete data. They keep the * of a rule from covering what its author did not
// think of. The list cannot be complete; the sandbox remains the boundary.
type riskyOptions struct {
	short string   // letters: -z, also within -nz and -zFILE
	long  []string // --pre, also --pre=x, and cut as programs accept it: --pr
	words []string // -exec: words as they are
}

var riskyOptionsOf = map[string]riskyOptions{
	"rg":     {short: "z", long: []string{"pre", "hostname-bin", "search-zip"}},
	"find":   {words: []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"}},
	"fd":     {short: "xX", long: []string{"exec", "exec-batch"}},
	"fdfind": {short: "xX", long: []string{"exec", "exec-batch"}},
	"sort":   {short: "o", long: []string{"output", "compress-program"}},
	"tar": {short: "IF", long: []string{
		"to-command", "checkpoint-action", "use-compress-program", "rsh-command", "rmt-command", "info-script", "new-volume-script",
	}},
	"git": {short: "cCdDfoOx", words: []string{"-u", "run", "foreach", "filter-branch", "difftool", "mergetool", "config"}, long: []string{
		"config-env", "exec-path", "git-dir", "work-tree", "namespace", "output", "ext-diff", "textconv", "upload-pack", "receive-pack", "exec",
		"open-files-in-pager", "delete", "force", "force-with-lease", "mirror", "prune", "edit-description", "upload-archive", "template",
		"extcmd", "sendmail-cmd", "hard",
	}},
	"go":     {words: []string{"-exec", "-toolexec", "-vettool", "-overlay", "-o", "-w"}, long: []string{"exec", "toolexec", "vettool", "overlay"}},
	"man":    {short: "PH", long: []string{"pager", "html"}},
	"printf": {short: "v"},
	"rsync":  {short: "e", long: []string{"rsh", "rsync-path", "delete", "remove-source-files"}},
	"wait":   {short: "p"},
	"zip":    {short: "T", long: []string{"unzip-command", "test"}},
	"curl":   {short: "oOKTJ", long: []string{"output", "remote-name", "config", "upload-file", "output-dir"}},
	"wget":   {short: "Oi", long: []string{"output-document", "use-askpass", "execute", "config", "post-file", "body-file"}},
}

// evaluators are shell builtins that evaluate the subscript in a word like a[$(id)].
var evaluators = set("test [ printf wait")

// sedPrint matches the only sed scripts that are known to do nothing but print.
var sedPrint = regexp.MustCompile(`^[0-9]+(,[0-9]+)?p$`)

// riskyOption returns why a rule's * does not cover the words from index from on,
// or "". It also checks the options of a program behind a wrapper.
func riskyOption(words []word, from int) string {
	if len(words) <= from {
		return ""
	}
	why := riskyOptionOf(words, from)
	for i := 1; i < from && why == "" && wrappers[program(words[0].text)]; i++ {
		why = riskyOptionOf(words[i:], from-i)
	}
	return why
}

// riskyOptionOf is riskyOption for the program in the first word.
func riskyOptionOf(words []word, from int) string {
	name := strings.TrimSuffix(program(words[0].text), ".exe")
	switch {
	case isSed(name) && !sedPrints(words[1:]):
		return "sed can run programs and write files"
	case !isSed(name) && isPowerful(name) && (from <= 1 || (carriers[name] || awks[name]) && isOption(words[from-1])):
		return name + " runs any command it is given"
	}
	for _, w := range words[max(from, 1):] {
		if evaluators[name] && len(w.text) > 1 && strings.Contains(w.text, "[") {
			return name + " may run commands inside [ ]"
		}
		if name == "git" && (strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":") && words[1].text == "push") {
			return "a + forces a push, a : deletes a branch"
		}
		if riskyOptionsOf[name].has(w.text) {
			return name + " " + w.text + " may run a program, write a file or discard something"
		}
	}
	return ""
}

func (h riskyOptions) has(arg string) bool {
	for _, w := range h.words {
		if arg == w || strings.HasPrefix(arg, w+"=") {
			return true
		}
	}
	option, isLong := strings.CutPrefix(arg, "--")
	if isLong {
		option, _, _ = strings.Cut(option, "=")
		for _, long := range h.long {
			if option == long || option != "" && strings.HasPrefix(long, option) {
				return true
			}
		}
		return false
	}
	return strings.HasPrefix(arg, "-") && h.short != "" && strings.ContainsAny(arg[1:], h.short)
}

func isSed(name string) bool { return name == "sed" || name == "gsed" }

// sedPrints reports whether sed's arguments are -n, a range to print, and files.
func sedPrints(args []word) bool {
	if len(args) < 2 || args[0].text != "-n" || !sedPrint.MatchString(args[1].text) {
		return false
	}
	for _, a := range args[2:] {
		if isOption(a) {
			return false
		}
	}
	return true
}
