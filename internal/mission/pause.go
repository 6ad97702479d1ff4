package mission

import "github.com/pawl-dev/pawl"

// paused returns the event that ends the turn of a paused mission once no worker runs.
func paused() pawl.Blocked {
	return pawl.Blocked{By: "user", State: pawl.MissionPaused, Reason: "the mission is paused"}
}
