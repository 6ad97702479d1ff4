package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestChoose(t *testing.T) {
	one := pawl.Question{Options: []pawl.Option{{Label: "red"}, {Label: "green"}, {Label: "blue"}}}
	many := one
	many.Multiple = true
	for _, test := range []struct {
		q    pawl.Question
		line string
		want []string
	}{
		{one, "2", []string{"green"}},
		{one, "0", []string{"0"}},
		{one, "4", []string{"4"}},
		{one, "green", []string{"green"}},
		{one, "1, 2", []string{"1, 2"}},
		{one, "a dark red", []string{"a dark red"}},
		{many, "1, 3", []string{"red", "blue"}},
		{many, "3,3", []string{"blue"}},
		{many, "1, and something else", []string{"1, and something else"}},
	} {
		if diff := cmp.Diff(test.want, choose(test.q, test.line)); diff != "" {
			t.Errorf("%q: %s", test.line, diff)
		}
	}
}
