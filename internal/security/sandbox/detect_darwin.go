package sandbox

import "context"

func detect(context.Context) (Backend, Report) {
	f := Finding{Name: "seatbelt", OK: exists(seatbeltPath), Detail: seatbeltPath}
	if !f.OK {
		f.Detail, f.Fix = seatbeltPath+" not found", "none: it is part of macOS"
		return None{Why: f.Detail}, Report{Findings: []Finding{f}}
	}
	return &Seatbelt{}, Report{Findings: []Finding{f}}
}
