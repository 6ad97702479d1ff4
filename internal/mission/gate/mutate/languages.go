package mutate

import (
	"path"
	"strings"
)

// family groups languages by how their statements and blocks are written.
type family int

const (
	familyBrace  family = iota // blocks in braces
	familyIndent               // blocks by indentation: Python
	familyEnd                  // blocks that a keyword ends: Ruby, Lua
	familyShell
	familyExpression // expressions and declarations only: operators and literals are changed, never statements
	familyData       // no code at all
)

// trait is a property of a language that operators ask for.
type trait int

const (
	angleGenerics  trait = 1 << iota // < and > also delimit type arguments
	charLiterals                     // 'a' is a character, not a string
	newlineEnds                      // a line break ends a statement
	topLevelCode                     // statements can stand outside functions
	bitOperators                     // & and | are bit operators on values, not types or patterns
	wordLogic                        // and, or and not are operators
	trailingBlocks                   // a call can be followed by a block: Kotlin, Swift
	definiteAssign                   // the compiler rejects variables that are not assigned on every path
	breakAtStart                     // the end of a file is not always parsed: Break inserts at the start
	singleEqual                      // = compares
	hashDirectives                   // #if and #define are directives
)

// language describes how to read and change the files of a language.
type language struct {
	name         string
	lexer        string   // file in lexers/, without the suffix; "" means Go's own scanner
	files        []string // suffixes that start with a dot, or whole names
	interpreters []string // names in the first line of a script
	family       family
	traits       trait
	comment      string // start of a comment line; "" if there are no comments
	commentEnd   string
	notEqual     string // "" means !=
	crash        string // statement that ends the process; "" if unknown
	isFalse      string // condition that is never met, for statements; "" if unknown
}

func (l *language) has(t trait) bool { return l.traits&t != 0 }

const cTraits = charLiterals | bitOperators | hashDirectives

var languages = []*language{
	{name: "Go", files: []string{".go"}, traits: charLiterals | newlineEnds | bitOperators, comment: "//", crash: `panic("stopped on purpose")`, isFalse: "false"},
	{name: "Python", lexer: "python", files: []string{".py", ".pyi", ".pyw"}, interpreters: []string{"python"}, family: familyIndent,
		traits: newlineEnds | topLevelCode | wordLogic | bitOperators, comment: "#", crash: "__import__('os')._exit(97)", isFalse: "False"},
	{name: "JavaScript", lexer: "javascript", files: []string{".js", ".mjs", ".cjs"}, interpreters: []string{"node", "deno", "bun"},
		traits: newlineEnds | topLevelCode | bitOperators, comment: "//", crash: "process.exit(97);", isFalse: "false"},
	{name: "JSX", lexer: "react", files: []string{".jsx"},
		traits: newlineEnds | topLevelCode | bitOperators | angleGenerics, comment: "//", crash: "process.exit(97);", isFalse: "false"},
	{name: "TypeScript", lexer: "typescript", files: []string{".ts", ".tsx", ".mts", ".cts"}, interpreters: []string{"tsx", "ts-node"},
		traits: newlineEnds | topLevelCode | bitOperators | angleGenerics, comment: "//", crash: "process.exit(97);", isFalse: "false"},
	{name: "Rust", lexer: "rust", files: []string{".rs"}, traits: angleGenerics | charLiterals | definiteAssign,
		comment: "//", crash: "if true { std::process::exit(97); }", isFalse: "false"},
	{name: "C", lexer: "c", files: []string{".c", ".h"}, traits: cTraits, comment: "//", crash: "__builtin_trap();", isFalse: "0"},
	{name: "C++", lexer: "c++", files: []string{".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp"},
		traits: cTraits | angleGenerics, comment: "//", crash: "__builtin_trap();", isFalse: "false"},
	{name: "Objective-C", lexer: "objective-c", files: []string{".m", ".mm"}, traits: cTraits | angleGenerics, comment: "//", crash: "__builtin_trap();", isFalse: "0"},
	{name: "Java", lexer: "java", files: []string{".java"}, traits: angleGenerics | charLiterals | bitOperators | definiteAssign,
		comment: "//", crash: "java.lang.Runtime.getRuntime().halt(97);", isFalse: "false"},
	{name: "Kotlin", lexer: "kotlin", files: []string{".kt", ".kts"}, traits: angleGenerics | charLiterals | newlineEnds | trailingBlocks | definiteAssign,
		comment: "//", crash: "java.lang.Runtime.getRuntime().halt(97)", isFalse: "false"},
	{name: "Groovy", lexer: "groovy", files: []string{".groovy", ".gradle"}, traits: angleGenerics | newlineEnds | topLevelCode | trailingBlocks,
		comment: "//", crash: "java.lang.Runtime.getRuntime().halt(97)", isFalse: "false"},
	{name: "Scala", lexer: "scala", files: []string{".scala", ".sc"}, traits: charLiterals | newlineEnds | trailingBlocks,
		comment: "//", crash: "java.lang.Runtime.getRuntime.halt(97)", isFalse: "false"},
	{name: "C#", lexer: "c#", files: []string{".cs"}, traits: angleGenerics | charLiterals | bitOperators | definiteAssign | hashDirectives,
		comment: "//", crash: `System.Environment.FailFast("stopped on purpose");`, isFalse: "false"},
	{name: "Swift", lexer: "swift", files: []string{".swift"}, traits: angleGenerics | newlineEnds | trailingBlocks | definiteAssign,
		comment: "//", crash: "if true { fatalError() }", isFalse: "false"},
	{name: "Dart", lexer: "dart", files: []string{".dart"}, traits: angleGenerics | definiteAssign, comment: "//", isFalse: "false"},
	{name: "PHP", lexer: "php", files: []string{".php"}, interpreters: []string{"php"},
		traits: topLevelCode | bitOperators | breakAtStart | definiteAssign, comment: "//", crash: "exit(97);", isFalse: "false"},
	{name: "Perl", lexer: "perl", files: []string{".pl", ".pm", ".t"}, interpreters: []string{"perl"},
		traits: topLevelCode | breakAtStart, comment: "#", crash: "kill 9, $$;", isFalse: "0"},
	{name: "Zig", lexer: "zig", files: []string{".zig"}, traits: charLiterals | wordLogic | definiteAssign, comment: "//", isFalse: "false"},
	{name: "D", lexer: "d", files: []string{".d"}, traits: charLiterals | bitOperators, comment: "//", isFalse: "false"},
	{name: "Solidity", lexer: "solidity", files: []string{".sol"}, traits: bitOperators, comment: "//", isFalse: "false"},
	{name: "Ruby", lexer: "ruby", files: []string{".rb", ".rake", "Rakefile", "Gemfile"}, interpreters: []string{"ruby"}, family: familyEnd,
		traits: newlineEnds | topLevelCode | wordLogic | breakAtStart, comment: "#", crash: "exit!(97)", isFalse: "false"},
	{name: "Lua", lexer: "lua", files: []string{".lua"}, interpreters: []string{"lua"}, family: familyEnd,
		traits: newlineEnds | topLevelCode | wordLogic, comment: "--", notEqual: "~=", crash: "os.exit(97)", isFalse: "false"},
	{name: "Elixir", lexer: "elixir", files: []string{".ex", ".exs"}, interpreters: []string{"elixir"}, family: familyEnd,
		traits: newlineEnds | topLevelCode | wordLogic, comment: "#"},
	{name: "Crystal", lexer: "crystal", files: []string{".cr"}, family: familyEnd, traits: newlineEnds | topLevelCode, comment: "#"},
	{name: "Julia", lexer: "julia", files: []string{".jl"}, interpreters: []string{"julia"}, family: familyEnd,
		traits: newlineEnds | topLevelCode | charLiterals, comment: "#", crash: "ccall(:abort, Cvoid, ())"},
	{name: "Shell", lexer: "bash", files: []string{".sh", ".bash", ".zsh", ".ksh", ".bats"}, interpreters: []string{"sh", "bash", "zsh", "ksh", "dash", "bats"},
		family: familyShell, traits: newlineEnds | topLevelCode | breakAtStart, comment: "#", crash: "kill -9 $$"},
	{name: "Fish", lexer: "fish", files: []string{".fish"}, interpreters: []string{"fish"}, family: familyExpression, traits: breakAtStart, comment: "#"},
	{name: "PowerShell", lexer: "powershell", files: []string{".ps1", ".psm1"}, interpreters: []string{"pwsh"}, family: familyExpression, comment: "#"},
	{name: "Haskell", lexer: "haskell", files: []string{".hs"}, family: familyExpression, traits: charLiterals, comment: "--", notEqual: "/="},
	{name: "Elm", lexer: "elm", files: []string{".elm"}, family: familyExpression, traits: charLiterals, comment: "--", notEqual: "/="},
	{name: "OCaml", lexer: "ocaml", files: []string{".ml"}, family: familyExpression, traits: charLiterals | singleEqual, comment: "(*", commentEnd: "*)", notEqual: "<>"},
	{name: "F#", lexer: "fsharp", files: []string{".fs", ".fsx"}, family: familyExpression, traits: charLiterals | singleEqual | angleGenerics, comment: "//", notEqual: "<>"},
	{name: "Erlang", lexer: "erlang", files: []string{".erl"}, family: familyExpression, traits: charLiterals, comment: "%", notEqual: "/="},
	{name: "Gleam", lexer: "gleam", files: []string{".gleam"}, family: familyExpression, comment: "//"},
	{name: "Nim", lexer: "nim", files: []string{".nim"}, family: familyExpression, traits: charLiterals | wordLogic, comment: "#"},
	{name: "Clojure", lexer: "clojure", files: []string{".clj", ".cljs", ".cljc"}, family: familyExpression, traits: singleEqual, comment: ";"},
	{name: "R", lexer: "r", files: []string{".R", ".r"}, interpreters: []string{"Rscript"}, family: familyExpression, comment: "#"},
	{name: "SQL", lexer: "sql", files: []string{".sql"}, family: familyExpression, traits: singleEqual, comment: "--", notEqual: "<>"},
	{name: "Makefile", lexer: "makefile", files: []string{".mk", ".mak", "Makefile", "makefile", "GNUmakefile"}, family: familyExpression, comment: "#"},
	{name: "CMake", lexer: "cmake", files: []string{".cmake", "CMakeLists.txt"}, family: familyExpression, comment: "#"},
	{name: "JSON", lexer: "json", files: []string{".json"}, family: familyData},
	{name: "YAML", lexer: "yaml", files: []string{".yaml", ".yml"}, family: familyData, comment: "#"},
	{name: "TOML", lexer: "toml", files: []string{".toml"}, family: familyData, comment: "#"},
	{name: "CSS", lexer: "css", files: []string{".css"}, family: familyData, comment: "/*", commentEnd: "*/"},
}

var shebang = lazy(`^#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*(?:\S+=\S+\s+)*)?(?:\S*/)?([A-Za-z][A-Za-z-]*)`)

// languageOf returns the language of a file by its name or, for a script without a
// suffix, by its first line. It returns nil if there is no lexer for it.
func languageOf(file string, text []byte) *language {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	suffix := path.Ext(base)
	for _, l := range languages {
		for _, f := range l.files {
			if f == base || suffix != base && f == suffix {
				return l
			}
		}
	}
	match := shebang().FindSubmatch(text)
	if match == nil {
		return nil
	}
	for _, l := range languages {
		for _, name := range l.interpreters {
			if string(match[1]) == name {
				return l
			}
		}
	}
	return nil
}
