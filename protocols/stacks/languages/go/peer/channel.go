// Package peer has what the ends of all stacks in Go share: the control channel, planned answers, and loads.
//
// Each line of the channel is a message in JSON: a question {call, ask: {do, …}}, its answer {call, value} or
// {call, failed}, or {call, abort}. Both ends may ask. languages/language-stack.ts is the other end.
package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
)

type message struct {
	Call   int             `json:"call"`
	Ask    json.RawMessage `json:"ask,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Failed *string         `json:"failed,omitempty"`
	Abort  bool            `json:"abort,omitempty"`
}

// Channel is the control channel.
type Channel struct {
	socket  net.Conn
	mutex   sync.Mutex
	last    int
	calls   map[int]chan message
	running map[int]context.CancelFunc
}

func newChannel(socket net.Conn) *Channel {
	return &Channel{socket: socket, calls: map[int]chan message{}, running: map[int]context.CancelFunc{}}
}

func (channel *Channel) write(sent message) {
	line, err := json.Marshal(sent)
	if err != nil {
		text := err.Error()
		line, _ = json.Marshal(message{Call: sent.Call, Failed: &text})
	}
	channel.mutex.Lock()
	defer channel.mutex.Unlock()
	_, _ = channel.socket.Write(append(line, '\n'))
}

// ask sends a question and waits for its answer.
func (channel *Channel) ask(ctx context.Context, question any) (json.RawMessage, error) {
	asked, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	answer := make(chan message, 1)
	channel.mutex.Lock()
	channel.last++
	call := channel.last
	channel.calls[call] = answer
	channel.mutex.Unlock()
	defer func() {
		channel.mutex.Lock()
		delete(channel.calls, call)
		channel.mutex.Unlock()
	}()
	channel.write(message{Call: call, Ask: asked})
	select {
	case came := <-answer:
		if came.Failed != nil {
			return nil, errors.New(*came.Failed)
		}
		return came.Value, nil
	case <-ctx.Done():
		channel.write(message{Call: call, Abort: true})
		return nil, ctx.Err()
	}
}

// serve answers questions until the other end is gone.
func (channel *Channel) serve(answer func(context.Context, json.RawMessage) (any, error)) {
	lines := bufio.NewReaderSize(channel.socket, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var came message
		if json.Unmarshal(line, &came) != nil {
			return
		}
		channel.mutex.Lock()
		waiting, cancel := channel.calls[came.Call], channel.running[came.Call]
		channel.mutex.Unlock()
		switch {
		case came.Ask != nil:
			ctx, cancel := context.WithCancel(context.Background())
			channel.mutex.Lock()
			channel.running[came.Call] = cancel
			channel.mutex.Unlock()
			go channel.reply(ctx, came, answer)
		case came.Abort && cancel != nil:
			cancel()
		case !came.Abort && waiting != nil:
			waiting <- came
		}
	}
}

func (channel *Channel) reply(ctx context.Context, asked message, answer func(context.Context, json.RawMessage) (any, error)) {
	value, err := answer(ctx, asked.Ask)
	channel.mutex.Lock()
	channel.running[asked.Call]()
	delete(channel.running, asked.Call)
	channel.mutex.Unlock()
	if err != nil {
		text := err.Error()
		channel.write(message{Call: asked.Call, Failed: &text})
		return
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		encoded = []byte("null")
	}
	channel.write(message{Call: asked.Call, Value: encoded})
}
