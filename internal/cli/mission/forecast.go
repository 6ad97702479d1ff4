package mission

import (
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission"
)

// Limits of the missions that a forecast is made from.
const (
	maxListed  = 200
	maxEarlier = 20
)

// forecast returns the forecast for a mission, or nil without earlier missions.
func forecast(ctx context.Context, svc pawl.Service, b pawl.Board) (*mission.Forecast, error) {
	list, err := svc.List(ctx, pawl.Filter{Missions: true, Limit: maxListed})
	if err != nil {
		return nil, err
	}
	var earlier []pawl.Board
	for _, s := range list.Sessions {
		if s.ID == b.Session.ID || s.Model != b.Session.Model || s.MissionState() != pawl.MissionSealed || len(earlier) == maxEarlier {
			continue
		}
		e, err := svc.Mission(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		earlier = append(earlier, e)
	}
	return mission.NewForecast(b, earlier), nil
}
