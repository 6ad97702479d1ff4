package httpapi

import (
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// getDiff returns what a session changed in files.
func getDiff(_ *response, r *request) (any, error) {
	o := pawl.DiffOptions{Path: r.query.Get("path")}
	if text := r.query.Get("turn"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fault.New(pawl.ErrInvalid, "turn must be a positive integer")
		}
		o.Turn = n
	}
	if text := r.query.Get("working_tree"); text != "" {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fault.New(pawl.ErrInvalid, "working_tree must be true or false")
		}
		o.WorkingTree = on
	}
	return r.service.Diff(r.Context(), r.id, o)
}
