package mutate

import (
	"cmp"
	"slices"
)

// The operators, by how much a survivor says: a line gets the first ones that apply to it.
const (
	opNegate     = "negated comparison"
	opLogic      = "swapped and/or"
	opBoolean    = "changed boolean"
	opReturn     = "changed return value"
	opCondition  = "condition never met"
	opSkipLoop   = "skipped loop"
	opArithmetic = "changed arithmetic"
	opIncrement  = "swapped increment"
	opDelete     = "deleted statement"
	opUnary      = "removed operator"
	opLoop       = "swapped break/continue"
	opNumber     = "changed number"
	opString     = "changed string"
	opBoundary   = "changed boundary"
	opCall       = "removed call"
	opBody       = "emptied function"
)

var ranks = []string{opNegate, opLogic, opBoolean, opReturn, opCondition, opSkipLoop, opArithmetic, opIncrement, opCall, opDelete, opUnary, opLoop, opNumber, opString, opBoundary}

// edit replaces a part of the text.
type edit struct {
	operator   string
	start, end int
	text       string
}

// Mutants returns at most perLine mutants for each of the lines, of different operators,
// the most promising first. It returns the same ones each time.
func (s *Source) Mutants(lines []int, perLine int) []Mutant {
	var out []Mutant
	for _, line := range slices.Compact(slices.Sorted(slices.Values(lines))) {
		if !s.IsCode(line) || s.pointless(line) {
			continue
		}
		used, n := map[string]bool{}, 0
		for _, e := range s.edits(line) {
			if n == perLine {
				break
			}
			if used[e.operator] || s.text[e.start:e.end] == e.text {
				continue
			}
			used[e.operator] = true
			n++
			out = append(out, s.mutant(e))
		}
	}
	return out
}

// mutant applies an edit.
func (s *Source) mutant(e edit) Mutant {
	line := s.lineOf(e.start)
	from, to := s.lines[line-1], s.lineEnd(s.lineOf(max(e.start, e.end-1)))
	return Mutant{
		Path: s.Path, Line: line, Operator: e.operator,
		Before: s.text[from:to], After: s.text[from:e.start] + e.text + s.text[e.end:to],
		Text: s.splice(e.start, e.end, e.text),
	}
}

// edits returns all changes of a line, the most promising first.
func (s *Source) edits(line int) []edit {
	if e, ok := s.defineEdit(line); ok {
		return []edit{e}
	}
	from, to := s.tokensOn(line)
	if inner, ok := s.innerText(line); ok {
		return inner
	}
	var out []edit
	for i := from; i < to; i++ {
		out = append(out, s.tokenEdits(i)...)
		for _, find := range []func(int) (edit, bool){s.resultEdit, s.callEdit} {
			if e, ok := find(i); ok {
				out = append(out, e)
			}
		}
	}
	if s.lang.family != familyExpression {
		out = append(out, s.statementEdits(line, from, to)...)
	}
	slices.SortStableFunc(out, func(a, b edit) int {
		return cmp.Or(cmp.Compare(slices.Index(ranks, a.operator), slices.Index(ranks, b.operator)), cmp.Compare(a.start, b.start))
	})
	return out
}

// tokenEdits returns the changes of a single token.
func (s *Source) tokenEdits(i int) []edit {
	t := s.tokens[i]
	replace := func(op, text string) []edit { return []edit{{op, t.start, t.end, text}} }
	switch t.kind {
	case operator:
		if s.lang.family == familyShell {
			return s.shellOperator(i)
		}
		return s.operatorEdits(i)
	case word:
		if s.lang.family == familyShell {
			return s.shellWord(i)
		}
		return s.wordEdits(i)
	case number:
		if s.mutableNumber(i) {
			if text, ok := changeNumber(t.text); ok {
				return replace(opNumber, text)
			}
		}
	case str, char:
		if s.mutableString(i) {
			if e, ok := s.changeString(i); ok {
				e.operator = opString
				return []edit{e}
			}
		}
	}
	return nil
}

// statementEdits returns the changes of the statement that a line consists of.
func (s *Source) statementEdits(line, from, to int) []edit {
	var out []edit
	if from == to {
		return nil
	}
	if s.lang.family == familyShell {
		return s.shellStatement(line, from, to)
	}
	if e, ok := s.conditionEdit(line, from, to); ok {
		out = append(out, e)
	}
	if e, ok := s.loopEdit(from, to); ok {
		out = append(out, e)
	}
	if e, ok := s.returnEdit(from, to); ok {
		out = append(out, e)
	}
	if e, ok := s.deleteEdit(line, from, to); ok {
		out = append(out, e)
	}
	return out
}
