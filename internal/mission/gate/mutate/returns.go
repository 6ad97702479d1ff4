package mutate

import (
	"slices"
	"strings"
)

// returnEdit changes what a return statement returns to a zero value.
func (s *Source) returnEdit(from, to int) (edit, bool) {
	if !s.is(from, "return") || from+1 >= to || !s.statementOn(from, to) {
		return edit{}, false
	}
	end := to
	if s.is(to-1, ";") {
		end--
	}
	if end <= from+1 {
		return edit{}, false
	}
	start, stop := s.tokens[from].start, s.tokens[end-1].end
	value := s.text[s.tokens[from+1].start:stop]
	if s.lang.name == "Go" {
		zeros, ok := s.goReturn(from, value)
		return edit{opReturn, start, start, "if true { return " + zeros + " }; "}, ok
	}
	if s.lang.name == "Ruby" && (s.hasWord(from, to, "if") || s.hasWord(from, to, "unless")) {
		return edit{}, false
	}
	zero, ok := s.zeroAt(from, value)
	if !ok || zeroLike(value) {
		return edit{}, false
	}
	return edit{opReturn, s.tokens[from+1].start, stop, zero}, true
}

// goReturn returns the zero values for a return statement in Go.
func (s *Source) goReturn(from int, value string) (string, bool) {
	f := s.functionAt(from)
	if f == nil {
		return "", false
	}
	sig := s.goResults(f.start, f.open)
	if sig == nil || len(sig.types) == 0 {
		return "", false
	}
	if sig.types[0] == "bool" && len(sig.types) == 1 && !zeroLike(value) {
		if compares.MatchString(value) { // to negate the comparison is the same
			return "", false
		}
		return "!(" + value + ")", true
	}
	for _, part := range strings.Split(value, ",") {
		if !zeroLike(strings.TrimSpace(part)) {
			return sig.zeros(), true
		}
	}
	return "", false
}

var (
	compares    = lazy(`^[^&|]*\s(?:==|!=|===|!==|<|>|<=|>=)\s[^&|]*$`)
	booleanType = set("bool boolean Boolean Bool")
)

var zeroText = lazy(`^(?:nil|0|0\.0|""|''|false|true|False|True|null|None|undefined|\[\]|\{\}|\(\)|NULL|nullptr|[\w.]+\{\})$`)

// zeroLike reports whether a value is a zero value, or a boolean, which other operators
// change.
func zeroLike(value string) bool { return zeroText.MatchString(value) }

// zeroAt returns an expression that can be returned instead of a value at a token.
func (s *Source) zeroAt(i int, value string) (string, bool) {
	switch s.lang.name {
	case "Python":
		return "None", true
	case "JavaScript", "JSX":
		return "undefined", true
	case "TypeScript":
		return "undefined as any", true
	case "Ruby", "Lua":
		return "nil", true
	}
	f := s.functionAt(i)
	if f == nil || f.name == "" {
		return "", false
	}
	result := s.resultType(f)
	if value != "" && compares.MatchString(value) && booleanType.has(result) {
		return "", false // to negate the comparison is the same
	}
	if value != "" && booleanType.has(result) {
		return "!(" + value + ")", true
	}
	return s.zeroOf(result)
}

var modifiers = set(`public private protected internal static final abstract override async virtual inline extern synchronized native sealed partial open
	suspend operator infix const constexpr unsafe pub export default readonly explicit friend noexcept unsigned signed fileprivate mutating class tailrec external`)

// resultType returns the declared type of what a function returns, or "".
func (s *Source) resultType(f *function) string {
	if f.params < 0 {
		return ""
	}
	after := s.match[f.params] + 1
	text := func(from, to int) string {
		if from >= to {
			return ""
		}
		return strings.TrimSpace(s.text[s.tokens[from].start:s.tokens[to-1].end])
	}
	switch s.lang.name {
	case "Rust", "Swift":
		for j := after; j < f.open; j++ {
			if s.is(j, "where") {
				return ""
			}
			if s.is(j, "->") {
				return text(j+1, f.open)
			}
		}
		return "()"
	case "Kotlin", "PHP":
		if s.is(after, ":") {
			return text(after+1, f.open)
		}
		if s.lang.name == "Kotlin" {
			return "Unit"
		}
		return "mixed"
	case "C", "C++", "Java", "C#":
		start := f.start
		return text(s.skipModifiers(start, f.params), s.nameBefore(f.params))
	}
	return ""
}

// skipModifiers returns the first token of a header after its modifiers and annotations.
func (s *Source) skipModifiers(start, end int) int {
	for start < end {
		switch {
		case s.is(start, "@") && s.is(start+2, "(") && s.match[start+2] > 0:
			start = s.match[start+2] + 1
		case s.is(start, "@"):
			start += 2
		case s.tokens[start].decorator && s.is(start+1, "(") && s.match[start+1] > 0:
			start = s.match[start+1] + 1
		case s.is(start, "[") && s.match[start] > 0: // an attribute of C#
			start = s.match[start] + 1
		case s.tokens[start].decorator || modifiers.has(s.tokens[start].text) && !s.is(start, "unsigned") && !s.is(start, "signed") && !s.is(start, "const"):
			start++
		default:
			return start
		}
	}
	return start
}

var (
	numericType = lazy(`^(?:unsigned\s*|signed\s*)?(?:int|long|short|char|byte|float|double|size_t|ssize_t|u?int\d+_t|long long|long int|[iu](?:8|16|32|64|128|size)|f32|f64|uint|ulong|ushort|sbyte|decimal|Int|Long|Short|Byte|Float|Double|UInt|Int\d+|UInt\d+|CGFloat|unsigned)$`)
	nullable    = lazy(`\?$|^\?`)
	emptyVec    = lazy(`^(?:Option|Vec|HashMap|HashSet|BTreeMap|BTreeSet|String|VecDeque)\b`)
)

// zeroOf returns the zero value of a type that a compiler accepts, or false.
func (s *Source) zeroOf(t string) (string, bool) {
	switch {
	case t == "":
		return "", false
	case t == "void" || t == "()" || t == "Unit" || t == "Void":
		return "", true
	case numericType.MatchString(t):
		return "0", true
	case t == "bool" || t == "boolean" || t == "Boolean" || t == "Bool":
		if s.lang.name == "C" {
			return "0", true
		}
		return "false", true
	}
	switch s.lang.name {
	case "Java":
		return "null", !strings.ContainsAny(t, ".@") || !strings.Contains(t, "@")
	case "C":
		if strings.HasSuffix(t, "*") {
			return "0", true
		}
		return "(" + t + "){0}", !strings.Contains(t, "\n")
	case "C++":
		return "{}", !strings.Contains(t, "&") && !strings.Contains(t, "auto") && !strings.Contains(t, "::~") && !strings.Contains(t, "<") && !strings.Contains(t, "::")
	case "C#":
		return "default", !strings.Contains(t, "ref ")
	case "Rust":
		if m := strings.TrimPrefix(t, "Result<"); m != t {
			ok, _, _ := strings.Cut(m, ",")
			_, known := s.zeroOf(strings.TrimSuffix(strings.TrimSpace(ok), ">"))
			return "Ok(Default::default())", known
		}
		return "Default::default()", emptyVec.MatchString(t) || t == "&str" || t == "&'static str"
	case "Kotlin", "Swift":
		return s.objectZero(t)
	case "PHP":
		return phpZero(t)
	}
	return "", false
}

func (s *Source) objectZero(t string) (string, bool) {
	switch {
	case nullable.MatchString(t) && s.lang.name == "Swift":
		return "nil", true
	case nullable.MatchString(t):
		return "null", true
	case t == "String":
		return `""`, true
	case strings.HasPrefix(t, "[") && s.lang.name == "Swift" && !strings.Contains(t, ":"):
		return "[]", true
	case strings.HasPrefix(t, "List<"):
		return "emptyList()", true
	}
	return "", false
}

func phpZero(t string) (string, bool) {
	switch t {
	case "string":
		return "''", true
	case "array", "iterable":
		return "[]", true
	case "mixed":
		return "null", true
	}
	return "null", nullable.MatchString(t)
}

// Bodies returns mutants whose functions return a zero value, or nothing, at once: one
// for each named function that contains one of the lines, where the language makes that
// possible. The old body stays as dead code, so that what it uses is still used.
func (s *Source) Bodies(lines []int) []Mutant {
	var out []Mutant
	seen := map[int]bool{}
	for _, line := range slices.Compact(slices.Sorted(slices.Values(lines))) {
		if !s.IsCode(line) {
			continue
		}
		e, ok := s.bodyEdit(line)
		if ok && !seen[e.start] {
			seen[e.start] = true
			out = append(out, s.mutant(e))
		}
	}
	return out
}

func (s *Source) bodyEdit(line int) (edit, bool) {
	switch {
	case s.lang.name == "Python" || s.lang.name == "Ruby" || s.lang.name == "Lua":
		return s.indentedBody(line)
	case s.lang.family != familyBrace && s.lang.name != "Shell":
		return edit{}, false
	}
	f := s.namedFunctionOn(line)
	if f == nil || s.trivial(f) {
		return edit{}, false
	}
	leave, ok := s.leave(f)
	at := s.tokens[f.open].end
	return edit{opBody, at, at, leave}, ok
}

// namedFunctionOn returns the innermost function with a name around a line.
func (s *Source) namedFunctionOn(line int) *function {
	var found *function
	for n := range s.functions {
		f := &s.functions[n]
		if (f.name != "" || s.lang.name == "Shell") && s.tokens[f.open].line <= line && line <= s.tokens[f.close].line {
			found = f
		}
	}
	return found
}

// trivial reports whether a function is empty or returns a zero value already.
func (s *Source) trivial(f *function) bool {
	body := strings.TrimSpace(s.text[s.tokens[f.open].end:s.tokens[f.close].start])
	value := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(body, "return"), ";"))
	if value == "" {
		return true
	}
	for _, part := range strings.Split(value, ",") {
		if part = strings.TrimSpace(part); !zeroLike(part) || part == "true" || part == "True" {
			return false
		}
	}
	return true
}

// leave returns the statement that leaves a function at its start.
func (s *Source) leave(f *function) (string, bool) {
	switch s.lang.name {
	case "Go":
		sig := s.goResults(f.start, f.open)
		if sig == nil {
			return "", false
		}
		if sig.named || len(sig.types) == 0 {
			return " if true { return };", true
		}
		return " if true { return " + sig.zeros() + " };", true
	case "JavaScript", "JSX", "TypeScript":
		if f.name == "constructor" || s.hasWord(f.start, f.params, "set") {
			return "", false
		}
		zero, _ := s.zeroAt(f.open, "")
		return " if (true) return " + zero + ";", true
	case "Shell":
		return " return 0;", s.tokens[f.open+1].line > s.tokens[f.open].line
	case "Perl":
		return " return;", true
	}
	return s.leaveTyped(f)
}

func (s *Source) leaveTyped(f *function) (string, bool) {
	zero, ok := s.zeroOf(s.resultType(f))
	if !ok || f.name == "" || s.hasWord(f.start, f.open, "const") && s.lang.name == "Rust" || s.hasWord(f.start, f.open, "constexpr") {
		return "", false
	}
	if zero != "" {
		zero = " " + zero
	}
	switch s.lang.name {
	case "Rust":
		return " if true { return" + zero + "; }", true
	case "Swift":
		return " if true { return" + zero + " };", true
	case "Kotlin":
		return " if (true) return" + zero + ";", true
	case "C":
		return " if (1) return" + zero + ";", true
	case "C++", "Java", "PHP":
		return " if (true) return" + zero + ";", f.name != "main" && !strings.HasPrefix(f.name, "__")
	case "C#":
		return " if (true) return" + zero + ";", !s.hasWord(f.open, f.close, "yield") && !s.hasWord(f.start, f.params, "async")
	}
	return "", false
}

// indentedBody leaves the innermost function around a line whose header ends with its
// line and whose body is indented.
func (s *Source) indentedBody(line int) (edit, bool) {
	indent := len(s.indent(line))
	for n := line - 1; n >= 1; n-- {
		from, to := s.tokensOn(n)
		if from == to || s.parent[from] >= 0 || len(s.indent(n)) >= indent || from > 0 && s.endLine(s.tokens[from-1]) >= n {
			continue
		}
		indent = len(s.indent(n))
		if s.is(from, "def") || s.is(from, "async") && s.is(from+1, "def") || s.is(from, "function") || s.is(from, "local") && s.is(from+1, "function") {
			return s.leaveIndented(n, from)
		}
	}
	return edit{}, false
}

func (s *Source) leaveIndented(header, from int) (edit, bool) {
	i := from
	if s.lang.name == "Python" {
		for i < len(s.tokens) && (!s.is(i, ":") || s.parent[i] != s.parent[from]) {
			i++
		}
	} else {
		for i+1 < len(s.tokens) && s.tokens[i+1].line == header {
			i++
		}
		if s.parent[i] >= 0 || s.tokens[i].kind == opening {
			return edit{}, false
		}
	}
	i++
	if i >= len(s.tokens) || s.tokens[i].line <= header || s.tokens[i].line == s.tokens[i-1].line || !s.startsLine(i) {
		return edit{}, false
	}
	first := s.tokens[i]
	value := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s.lineText(first.line)), "return"))
	if s.is(i, "pass") || s.is(i, "return") && zeroLike(value) && value != "True" && value != "true" || strings.Contains(s.lineText(first.line), "NotImplemented") {
		return edit{}, false
	}
	text := map[string]string{"Python": "return None", "Ruby": "return nil if true", "Lua": "do return nil end"}[s.lang.name]
	return edit{opBody, first.start, first.start, text + s.lineBreak() + s.indent(first.line)}, true
}
