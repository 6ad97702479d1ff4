package syntax

import (
	"path"
	"strings"
	"sync"
)

// language describes the lexical elements of a language.
type language struct {
	comments   []string // prefixes of line comments
	pairs      []pair
	words      map[string]bool
	ignoreCase bool   // keywords are case-insensitive
	keys       bool   // a word before a colon is a name
	starts     string // first bytes of comments and pairs
}

// pair is a string or comment between two delimiters.
type pair struct {
	begin, end string
	kind       kind
	multiline  bool // may span lines
}

var (
	double       = pair{begin: `"`, end: `"`, kind: str}
	single       = pair{begin: `'`, end: `'`, kind: str}
	backtick     = pair{begin: "`", end: "`", kind: str, multiline: true}
	blockComment = pair{begin: "/*", end: "*/", kind: comment, multiline: true}
	tripleDouble = pair{begin: `"""`, end: `"""`, kind: str, multiline: true}
	tripleSingle = pair{begin: `'''`, end: `'''`, kind: str, multiline: true}
	htmlComment  = pair{begin: "<!--", end: "-->", kind: comment, multiline: true}
)

// languageDef is a row of the table of languages.
type languageDef struct {
	names      string // language names and file extensions
	comments   string
	pairs      []pair
	words      string
	ignoreCase bool
	keys       bool
}

const cWords = "break case const continue default do else enum false for goto if import new null return static struct switch this throw true try catch finally typedef union void volatile while class public private protected extends implements interface package super abstract final int long short char float double bool boolean byte unsigned signed string namespace template typename using virtual override auto delete sizeof extern inline in is as var let val fun fn"

var definitions = []languageDef{
	{names: "go golang", comments: "//", pairs: []pair{blockComment, double, single, backtick}, words: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota any error string int int64 uint byte rune bool float64"},
	{names: "c h cc cpp c++ hpp cxx java cs csharp kt kotlin swift scala dart m objc proto groovy gradle zig", comments: "//", pairs: []pair{blockComment, tripleDouble, double, single}, words: cWords + " func guard override extension protocol message service rpc repeated optional required extends match object trait def with yield async await where foreach out ref params sealed record when internal companion data open suspend defer pub comptime usize self"},
	{names: "js javascript jsx ts typescript tsx mjs cjs vue svelte", comments: "//", pairs: []pair{blockComment, double, single, backtick}, words: "async await break case catch class const continue debugger default delete do else export extends false finally for from function get if import in instanceof interface let new null of return set static super switch this throw true try type typeof undefined var void while with yield enum implements private public readonly declare namespace as keyof number string boolean any never unknown"},
	{names: "rs rust", comments: "//", pairs: []pair{blockComment, double}, words: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char i8 i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64 str String Option Result Some None Ok Err Vec Box"},
	{names: "py python pyi starlark bzl", comments: "#", pairs: []pair{tripleDouble, tripleSingle, double, single}, words: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield"},
	{names: "rb ruby", comments: "#", pairs: []pair{double, single, backtick}, words: "alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_accessor"},
	{names: "php", comments: "// #", pairs: []pair{blockComment, double, single}, words: cWords + " function echo foreach elseif endif require include use namespace fn match array"},
	{names: "sh bash zsh shell console fish", comments: "#", pairs: []pair{double, single, backtick}, words: "if then elif else fi for while until do done case esac function in return exit export local readonly set unset source echo cd trap shift eval exec sudo"},
	{names: "sql psql mysql sqlite", comments: "--", pairs: []pair{blockComment, single, double}, ignoreCase: true, words: "add all alter and as asc begin between by case check column commit constraint create default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction trigger union unique update using values view when where with text integer int bigint boolean timestamp varchar"},
	{names: "json jsonc json5 jsonl", comments: "//", pairs: []pair{blockComment, double}, words: "true false null", keys: true},
	{names: "yaml yml", comments: "#", pairs: []pair{double, single}, words: "true false null yes no on off", keys: true},
	{names: "toml ini cfg conf properties env editorconfig gitconfig", comments: "# ;", pairs: []pair{tripleDouble, double, single}, words: "true false"},
	{names: "html xml svg htm xhtml", comments: "", pairs: []pair{htmlComment, double, single}, words: "html head body div span script style link meta title a p ul ol li table tr td th img input form button h1 h2 h3 section nav main footer header"},
	{names: "css scss less sass", comments: "//", pairs: []pair{blockComment, double, single}, words: "important media import keyframes supports from to inherit initial none auto", keys: true},
	{names: "lua", comments: "--", pairs: []pair{{begin: "[[", end: "]]", kind: str, multiline: true}, double, single}, words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while"},
	{names: "makefile make mk", comments: "#", pairs: []pair{double, single}, words: "ifeq ifneq ifdef ifndef else endif include define endef export override", keys: true},
	{names: "dockerfile containerfile", comments: "#", pairs: []pair{double, single}, words: "FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS"},
	{names: "tf hcl terraform nix", comments: "# //", pairs: []pair{blockComment, double}, words: "resource data variable output module provider locals terraform true false null for in if let with rec inherit then else import"},
	{names: "ex exs elixir", comments: "#", pairs: []pair{tripleDouble, double, single}, words: "def defp defmodule do end if else case cond when fn use import alias require true false nil and or not in with for"},
	{names: "hs haskell elm ml ocaml", comments: "--", pairs: []pair{{begin: "{-", end: "-}", kind: comment, multiline: true}, {begin: "(*", end: "*)", kind: comment, multiline: true}, double}, words: "case class data deriving do else if import in infix instance let module newtype of then type where open rec match with fun function val begin end mutable"},
	{names: "clj lisp el scm scheme", comments: ";", pairs: []pair{double}, words: "def defn defun defmacro let if cond fn lambda ns require do loop recur quote nil true false"},
	{names: "r jl julia pl perl ps1 powershell awk", comments: "#", pairs: []pair{double, single}, words: "function if else for while in return end begin do module using import struct mutable my our sub use package foreach unless elsif param true false TRUE FALSE NULL nothing"},
}

var languages = sync.OnceValue(func() map[string]*language {
	all := map[string]*language{}
	for _, r := range definitions {
		l := &language{comments: strings.Fields(r.comments), pairs: r.pairs, ignoreCase: r.ignoreCase, keys: r.keys, words: map[string]bool{}}
		for _, w := range strings.Fields(r.words) {
			l.words[w] = true
		}
		for _, m := range l.comments {
			l.starts += m[:1]
		}
		for _, p := range l.pairs {
			l.starts += p.begin[:1]
		}
		for _, n := range strings.Fields(r.names) {
			all[n] = l
		}
	}
	return all
})

// lookup returns a language by name or file path, or nil.
func lookup(s string) *language {
	s = strings.ToLower(path.Base(strings.TrimSpace(s)))
	if l := languages()[s]; l != nil {
		return l
	}
	return languages()[strings.TrimPrefix(path.Ext(s), ".")]
}
