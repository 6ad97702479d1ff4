package mutate

import "strings"

var (
	// logCall matches calls that only inform: no test should depend on them.
	logCall = lazy(`(?i)^(?:(?:self|this|_|\$this|app|ctx|s|c|r)(?:\.|->))?_?(?:log|logs|logger|logging|slog|klog|glog|zap|console|tracing|fmt\.print(?:f|ln)?|` +
		`debug|trace|syslog|os_log|nslog|log_(?:debug|info|warn|error)|eprintln|eprint|dbg|info|warn|error_log|system\.err)$`)
	logChain = lazy(`(?i)^(?:[\w$]+(?:\(\))?(?:\.|->|::))*_?(?:log|logs|logger|logging|slog|klog|glog|zap|console|tracing|loguru)(?:\(\))?(?:\.|->|::)\w+$|^(?:java\.lang\.)?System\.err\.\w+$|^fmt\.Print(?:f|ln)?$`)
	stderr   = lazy(`os\.Stderr|sys\.stderr|\bstderr\b|STDERR|process\.stderr|std::cerr|>&2|io:stderr|System\.err`)
	// errorCall matches calls whose texts are for people.
	errorCall = lazy(`(?i)(?:error|errorf|exception|panic|fatal|fail|warn|warning|abort|die|bail|anyhow|ensure|unreachable|todo|croak|confess|expect|context|wrap|wrapf|unimplemented)!?$|^Err$`)
	invariant = lazy(`^(?:assert|debug_assert\w*!?|assert\w*!|invariant|static_assert|precondition|_Static_assert|Debug\.Assert|console\.assert|require\.|NSAssert)\b`)
	timing    = lazy(`(?i)\btime\.(?:Nano|Micro|Milli)?second|time\.Minute|time\.Hour|timeout|duration|sleep|deadline|interval|backoff|delay|setTimeout`)
	versions  = lazy(`(?i)version`)
	semver    = lazy(`^\W*v?\d+(?:\.\d+)+`)
	// harmless matches calls whose absence tests rarely see.
	harmless = lazy(`(?:^|[.>:])(?:Lock|Unlock|RLock|RUnlock|lock|unlock|Close|close|Helper|Parallel|free|flush|Flush|Cleanup|cleanup|Done|cancel|Sleep|sleep|gc|GC)$`)
)

// pointless reports whether changes of a line tell nothing about the tests: it logs,
// or states an invariant.
func (s *Source) pointless(line int) bool {
	from, to := s.tokensOn(line)
	if from == to {
		return false
	}
	text := strings.TrimSpace(s.lineText(line))
	if invariant.MatchString(text) || strings.HasPrefix(text, "if __name__ ==") {
		return true
	}
	if stderr.MatchString(text) && outputCall.MatchString(text) {
		return true
	}
	if s.logs(s.calleeAt(from)) {
		return true
	}
	for p := s.parent[from]; p >= 0; p = s.parent[p] {
		if s.tokens[p].text == "(" && s.logs(s.callee(p)) {
			return true
		}
		if s.blocks[p] != blockNone {
			break
		}
	}
	return false
}

var outputCall = lazy(`(?i)print|write|echo|put|cerr|log`)

func (s *Source) logs(callee string) bool {
	callee = strings.TrimSuffix(callee, "!")
	return callee != "" && (logChain.MatchString(callee) || logCall.MatchString(callee))
}

// callee returns the name before the parenthesis at a token, with what it is selected
// from, e.g. "log.Printf"; "" if it is not a call.
func (s *Source) callee(open int) string {
	start := open
	for j := open - 1; j >= 0; j-- {
		t := s.tokens[j]
		switch {
		case t.kind == word && j+1 == start && (start == open || s.tokens[start].kind != word):
			start = j
		case t.text == "." || t.text == "::" || t.text == "->" || t.text == "?." || t.text == "!" && start == open:
			start = j
		case t.text == ")" && s.match[j] > 0 && start == j+1 && start < open:
			j = s.match[j]
			start = j
		default:
			j = 0
		}
	}
	if start == open {
		return ""
	}
	return s.text[s.tokens[start].start:s.tokens[open-1].end]
}

// calleeAt returns the name of the call that starts at a token, or "".
func (s *Source) calleeAt(from int) string {
	if s.is(from, "await") || s.is(from, "go") || s.is(from, "defer") {
		from++
	}
	for j := from; j < len(s.tokens) && j < from+12; j++ {
		t := s.tokens[j]
		switch {
		case t.text == "(" && t.kind == opening && j > from:
			return s.text[s.tokens[from].start:s.tokens[j-1].end]
		case t.kind != word && t.text != "." && t.text != "::" && t.text != "->" && t.text != "!" && t.text != "?.":
			return ""
		}
	}
	return ""
}

// message reports whether a literal is a text or number for people: an argument of an
// error, a panic or a log call.
func (s *Source) message(i int) bool {
	for p := s.parent[i]; p >= 0 && s.blocks[p] == blockNone; p = s.parent[p] {
		if s.tokens[p].text == "(" {
			name := s.callee(p)
			if formatCall.MatchString(name) {
				continue
			}
			return errorCall.MatchString(name) || s.logs(name) || strings.HasSuffix(name, "errors.New") || s.raised(p)
		}
	}
	if from, _ := s.tokensOn(s.tokens[i].line); s.parent[from] == s.parent[i] && (s.is(from, "raise") || s.is(from, "throw") || s.is(from, "die") || s.is(from, "abort") || s.is(from, "warn")) {
		return true
	}
	before := s.tokens[max(i-1, 0)].text
	return before == "raise" || before == "throw" || before == "die" || before == "fail" || before == "warn" || before == "abort"
}

var formatCall = lazy(`^(?:format!|fmt\.Sprintf|String\.format|sprintf|std::format)$`)

// raised reports whether the call with the parenthesis at open creates what is thrown.
func (s *Source) raised(open int) bool {
	for j := open - 1; j >= max(0, open-8); j-- {
		t := s.tokens[j]
		if t.text == "throw" || t.text == "raise" {
			return true
		}
		if t.kind != word && t.text != "." && t.text != "::" && t.text != "\\" {
			return false
		}
	}
	return false
}
