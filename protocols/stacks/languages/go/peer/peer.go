package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Packet is a packet of the mesh.
type Packet struct {
	ID        string  `json:"id"`
	From      string  `json:"from"`
	Type      string  `json:"type"`
	To        *string `json:"to,omitempty"`
	ReplyTo   *string `json:"reply_to,omitempty"`
	TaskID    string  `json:"task_id"`
	Tag       *string `json:"tag,omitempty"`
	TokenUsed int64   `json:"token_used"`
	LogURI    *string `json:"log_uri,omitempty"`
	TS        int64   `json:"ts"`
	Payload   any     `json:"payload"`
}

// Exchange carries a packet to a server, or answers it there.
type Exchange func(context.Context, Packet) ([]Packet, error)

// Settings are those of `StackSettings`, and what a protocol adds.
type Settings struct {
	Connections    int             `json:"connections"`
	KeepAliveMs    float64         `json:"keepAliveMs"`
	DeadlineMs     float64         `json:"deadlineMs"`
	SessionMs      float64         `json:"sessionMs"`
	LargestBytes   int             `json:"largestBytes"`
	AdvertisedPort int             `json:"advertisedPort"`
	Tool           json.RawMessage `json:"tool"`
	Card           json.RawMessage `json:"card"`
}

// Stack has the two ends of a stack. Both return a function that closes what they opened.
type Stack struct {
	// Serve returns the port, or 0 if it serves on the pipes of the process.
	Serve   func(inbox Exchange, settings Settings, peer *Peer) (port int, stop func(), err error)
	Connect func(ctx context.Context, address string, settings Settings) (Exchange, func(), error)
}

type session struct {
	exchange Exchange
	plan     []planned
	stop     func()
}

// Peer serves stacks, and is their client, as the control channel says.
type Peer struct {
	channel  *Channel
	stacks   map[string]Stack
	mutex    sync.Mutex
	sessions map[int]*session
	counts   counts
	// CountWire returns the bytes of the pipes of this process, if it serves on them.
	CountWire func() any
}

type counts struct {
	mutex            sync.Mutex
	packets, refused int
}

// Run connects to the socket of the control channel and serves it.
func Run(path string, stacks map[string]Stack) error {
	socket, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	peer := &Peer{channel: newChannel(socket), stacks: stacks, sessions: map[int]*session{}}
	peer.channel.serve(peer.do)
	return nil
}

type question struct {
	Do         string          `json:"do"`
	Session    int             `json:"session"`
	Module     string          `json:"module"`
	Settings   Settings        `json:"settings"`
	Plan       *plan           `json:"plan"`
	Address    string          `json:"address"`
	Packet     Packet          `json:"packet"`
	Exchanges  []planned       `json:"exchanges"`
	First      int             `json:"first"`
	Load       load            `json:"load"`
	TaskLength int             `json:"task_length"`
	Counts     json.RawMessage `json:"counts"`
}

func (peer *Peer) do(ctx context.Context, asked json.RawMessage) (any, error) {
	var own question
	if err := json.Unmarshal(asked, &own); err != nil {
		return nil, err
	}
	peer.mutex.Lock()
	known := peer.sessions[own.Session]
	peer.mutex.Unlock()
	switch own.Do {
	case "serve":
		inbox := peer.askForReplies(own.Session)
		if own.Plan != nil {
			inbox = own.Plan.answer(&peer.counts)
		}
		port, stop, err := peer.stacks[own.Module].Serve(inbox, own.Settings, peer)
		peer.keep(own.Session, &session{stop: stop})
		return map[string]any{"port": port}, err
	case "connect":
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, milliseconds(own.Settings.SessionMs))
		defer cancel()
		exchange, stop, err := peer.stacks[own.Module].Connect(ctx, own.Address, own.Settings)
		if err != nil {
			return nil, err
		}
		peer.keep(own.Session, &session{exchange: withDeadline(exchange, own.Settings), stop: stop})
		return map[string]any{"ms": time.Since(began).Seconds() * 1000}, nil
	case "exchange":
		replies, err := known.exchange(ctx, own.Packet)
		return append([]Packet{}, replies...), err
	case "plan":
		known.plan = own.Exchanges
		return nil, nil
	case "play":
		player := &player{exchange: known.exchange, plan: known.plan, first: own.First, taskLength: own.TaskLength}
		return player.play(ctx, own.Load)
	case "count":
		return peer.count(), nil
	case "close":
		peer.keep(own.Session, nil)
		known.stop()
		return nil, nil
	}
	return nil, fmt.Errorf("unknown question %s", own.Do)
}

func (peer *Peer) keep(number int, opened *session) {
	peer.mutex.Lock()
	defer peer.mutex.Unlock()
	if opened == nil {
		delete(peer.sessions, number)
	} else {
		peer.sessions[number] = opened
	}
}

func withDeadline(exchange Exchange, settings Settings) Exchange {
	return func(ctx context.Context, packet Packet) ([]Packet, error) {
		ctx, cancel := context.WithTimeout(ctx, milliseconds(settings.DeadlineMs))
		defer cancel()
		return exchange(ctx, packet)
	}
}

// askForReplies sends packets to the other end of the channel, which has the real inbox.
func (peer *Peer) askForReplies(number int) Exchange {
	return func(ctx context.Context, packet Packet) ([]Packet, error) {
		value, err := peer.channel.ask(ctx, map[string]any{"do": "packet", "session": number, "packet": packet})
		if err != nil {
			return nil, err
		}
		var replies []Packet
		return replies, json.Unmarshal(value, &replies)
	}
}

// End tells the last counts of a server whose client has gone, and ends the process.
func (peer *Peer) End() {
	_, _ = peer.channel.ask(context.Background(), map[string]any{"do": "end", "counts": peer.count()})
	os.Exit(0)
}

func (peer *Peer) count() map[string]any {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	peer.counts.mutex.Lock()
	defer peer.counts.mutex.Unlock()
	var wire any
	if peer.CountWire != nil {
		wire = peer.CountWire()
	}
	return map[string]any{
		"wire":     wire,
		"packets":  peer.counts.packets,
		"refused":  peer.counts.refused,
		"cpuUs":    map[string]any{"user": usage.Utime.Nano() / 1000, "system": usage.Stime.Nano() / 1000},
		"rssBytes": readRss(memory.Sys),
	}
}

func readRss(otherwise uint64) uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return otherwise
	}
	pages, _ := strconv.ParseUint(strings.Fields(string(text))[1], 10, 64)
	return pages * uint64(os.Getpagesize())
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
