package peer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// passMark separates a planned id from the number of the pass that repeats it.
const passMark = "~~"

type planned struct {
	Request Packet   `json:"request"`
	Replies []Packet `json:"replies"`
}

type plan struct {
	Exchanges []planned `json:"exchanges"`
	WorkMs    float64   `json:"workMs"`
}

// answer returns an inbox that answers each packet with the replies of its planned exchange.
func (plan *plan) answer(counts *counts) Exchange {
	byID := map[string]planned{}
	for _, exchange := range plan.Exchanges {
		byID[exchange.Request.ID] = exchange
	}
	return func(_ context.Context, packet Packet) ([]Packet, error) {
		id, pass, _ := strings.Cut(packet.ID, passMark)
		exchange, known := byID[id]
		counts.mutex.Lock()
		counts.packets++
		if !known {
			counts.refused++
		}
		counts.mutex.Unlock()
		if !known {
			return nil, fmt.Errorf("unexpected packet %s: it is in no planned exchange", packet.ID)
		}
		if plan.WorkMs > 0 {
			time.Sleep(milliseconds(plan.WorkMs))
		}
		number, _ := strconv.Atoi(pass)
		_, replies := exchange.number(number, packet.TaskID)
		return replies, nil
	}
}

// number returns the request and the replies for a pass: as planned in pass 0, with new ids in each further one.
func (planned planned) number(pass int, task string) (Packet, []Packet) {
	mark := markOf(pass)
	request := planned.Request
	request.ID += mark
	request.TaskID = task
	replies := make([]Packet, len(planned.Replies))
	for i, reply := range planned.Replies {
		if reply.ReplyTo != nil && *reply.ReplyTo == planned.Request.ID {
			reply.ReplyTo = &request.ID
		}
		reply.ID += mark
		reply.TaskID = task
		replies[i] = reply
	}
	return request, replies
}

func markOf(pass int) string {
	if pass == 0 {
		return ""
	}
	return passMark + strconv.Itoa(pass)
}

type load struct {
	Kind        string  `json:"kind"`
	Count       int     `json:"count"`
	Concurrency int     `json:"concurrency"`
	MaxMs       float64 `json:"maxMs"`
	RatePerS    float64 `json:"ratePerS"`
	MaxWaiting  int     `json:"maxWaiting"`
}

// player plays a load, as peers/load.ts does.
type player struct {
	exchange   Exchange
	plan       []planned
	first      int
	taskLength int

	mutex   sync.Mutex
	times   []float64
	failure error
}

func (player *player) prepare(index int) (Packet, []string) {
	nth := player.first + index
	exchange, pass := player.plan[nth%len(player.plan)], nth/len(player.plan)
	mark := markOf(pass)
	task := exchange.Request.TaskID
	task = task[:min(len(task), player.taskLength-len(mark))] + mark
	request, replies := exchange.number(pass, task)
	return request, idsOf(replies)
}

func idsOf(packets []Packet) []string {
	ids := make([]string, len(packets))
	for i, packet := range packets {
		ids[i] = packet.ID
	}
	slices.Sort(ids)
	return ids
}

// run makes one exchange, whose time counts from began.
func (player *player) run(ctx context.Context, request Packet, wanted []string, began time.Time) {
	came, err := player.exchange(ctx, request)
	us := float64(time.Since(began).Nanoseconds()) / 1000
	if err == nil && !slices.Equal(idsOf(came), wanted) {
		err = fmt.Errorf("in answer to %s: expected %v, got %v", request.ID, wanted, idsOf(came))
	}
	player.mutex.Lock()
	defer player.mutex.Unlock()
	player.times = append(player.times, us)
	if err != nil && player.failure == nil {
		player.failure = err
	}
}

func (player *player) hasFailed() bool {
	player.mutex.Lock()
	defer player.mutex.Unlock()
	return player.failure != nil
}

func (player *player) play(ctx context.Context, load load) (any, error) {
	began := time.Now()
	late, isOverloaded := time.Duration(0), false
	if load.Kind == "closed" {
		player.playClosed(ctx, load, began)
	} else {
		late, isOverloaded = player.playOpen(ctx, load, began)
	}
	return map[string]any{
		"count":        len(player.times),
		"elapsedMs":    time.Since(began).Seconds() * 1000,
		"timesUs":      append([]float64{}, player.times...),
		"lateUs":       float64(late.Nanoseconds()) / 1000,
		"isOverloaded": isOverloaded,
	}, player.failure
}

func (player *player) playClosed(ctx context.Context, load load, began time.Time) {
	var group sync.WaitGroup
	indexes := make(chan int)
	for range min(load.Concurrency, load.Count) {
		group.Go(func() {
			for index := range indexes {
				request, wanted := player.prepare(index)
				player.run(ctx, request, wanted, time.Now())
			}
		})
	}
	for index := 0; index < load.Count && time.Since(began) < milliseconds(load.MaxMs) && !player.hasFailed(); index++ {
		indexes <- index
	}
	close(indexes)
	group.Wait()
}

// playOpen begins exchanges at fixed times, and measures each from its due time.
func (player *player) playOpen(ctx context.Context, load load, began time.Time) (late time.Duration, isOverloaded bool) {
	most := 512
	if load.MaxWaiting > 0 {
		most = min(most, load.MaxWaiting)
	}
	var group sync.WaitGroup
	defer group.Wait()
	waiting := make(chan struct{}, most)
	for index := 0; index < load.Count && !player.hasFailed(); index++ {
		if index > 0 && load.MaxMs > 0 && time.Since(began) > milliseconds(load.MaxMs) {
			break
		}
		request, wanted := player.prepare(index)
		due := began.Add(time.Duration(float64(index) / load.RatePerS * float64(time.Second)))
		time.Sleep(time.Until(due))
		late = max(late, time.Since(due))
		select {
		case waiting <- struct{}{}:
		default:
			return late, true
		}
		group.Go(func() {
			player.run(ctx, request, wanted, due)
			<-waiting
		})
	}
	return late, false
}
