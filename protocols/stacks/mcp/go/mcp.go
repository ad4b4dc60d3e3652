// Package mcp has the two ends of the stacks of MCP, with the official SDK for Go.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"syscall"

	"gaia-mesh/stacks/languages/go/peer"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP is MCP over streamable HTTP.
var HTTP = peer.Stack{Serve: serveHTTP, Connect: connectHTTP}

// Stdio is MCP over the pipes of a process. The server counts the bytes of its own pipes.
var Stdio = peer.Stack{Serve: serveStdio, Connect: connectStdio}

type replies struct {
	Replies []peer.Packet `json:"replies"`
}

// createServer creates a server whose one tool hands packets to inbox.
func createServer(inbox peer.Exchange, settings peer.Settings) (*mcp.Server, error) {
	tool := &mcp.Tool{}
	if err := json.Unmarshal(settings.Tool, tool); err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "mesh", Version: "1"}, nil)
	server.AddTool(tool, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var packet peer.Packet
		err := json.Unmarshal(request.Params.Arguments, &packet)
		var came []peer.Packet
		if err == nil {
			came, err = inbox(ctx, packet)
		}
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
		}
		value := replies{append([]peer.Packet{}, came...)}
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: value}, nil
	})
	return server, nil
}

func serveHTTP(inbox peer.Exchange, settings peer.Settings, _ *peer.Peer) (int, func(), error) {
	server, err := createServer(inbox, settings)
	if err != nil {
		return 0, nil, err
	}
	listener, port, err := peer.Listen()
	if err != nil {
		return 0, nil, err
	}
	options := &mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: int64(settings.LargestBytes)}
	handler := http.NewServeMux()
	handler.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options))
	return port, peer.ServeHTTP(listener, handler, settings), nil
}

func connectHTTP(ctx context.Context, address string, settings peer.Settings) (peer.Exchange, func(), error) {
	transport := &mcp.StreamableClientTransport{
		Endpoint:             address,
		HTTPClient:           peer.NewHTTPClient(settings),
		DisableStandaloneSSE: true,
		MaxEventSize:         settings.LargestBytes,
	}
	return connect(ctx, transport, settings)
}

func connect(ctx context.Context, transport mcp.Transport, settings peer.Settings) (peer.Exchange, func(), error) {
	var tool struct{ Name string }
	if err := json.Unmarshal(settings.Tool, &tool); err != nil {
		return nil, nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "mesh", Version: "1"}, nil)
	// The session outlives the time in which it is set up.
	session, err := client.Connect(context.WithoutCancel(ctx), transport, nil)
	if err != nil {
		return nil, nil, err
	}
	stop := func() { _ = session.Close() }
	if _, err := session.ListTools(ctx, nil); err != nil {
		stop()
		return nil, nil, err
	}
	exchange := func(ctx context.Context, packet peer.Packet) ([]peer.Packet, error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: packet})
		if err != nil {
			return nil, err
		}
		return readResult(result)
	}
	return exchange, stop, nil
}

func readResult(result *mcp.CallToolResult) ([]peer.Packet, error) {
	text := ""
	if len(result.Content) > 0 {
		if first, isText := result.Content[0].(*mcp.TextContent); isText {
			text = first.Text
		}
	}
	if result.IsError {
		return nil, fmt.Errorf("MCP: the call failed: %s", text)
	}
	value := []byte(text)
	if result.StructuredContent != nil {
		encoded, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return nil, err
		}
		value = encoded
	}
	var came replies
	return came.Replies, errors.Join(json.Unmarshal(value, &came))
}

// countedPipe is a pipe whose bytes and lines are counted, each line being a message.
type countedPipe struct {
	*os.File
	bytes, lines atomic.Int64
}

func (pipe *countedPipe) Read(buffer []byte) (int, error) {
	length, err := pipe.File.Read(buffer)
	pipe.count(buffer[:length])
	return length, err
}

func (pipe *countedPipe) Write(data []byte) (int, error) {
	length, err := pipe.File.Write(data)
	pipe.count(data[:length])
	return length, err
}

func (pipe *countedPipe) count(data []byte) {
	pipe.bytes.Add(int64(len(data)))
	pipe.lines.Add(int64(bytes.Count(data, []byte{'\n'})))
}

func (pipe *countedPipe) read() map[string]int64 {
	raw, lines := pipe.bytes.Load(), pipe.lines.Load()
	return map[string]int64{"raw": raw, "tls": 0, "head": lines, "body": raw - lines, "messages": lines}
}

func serveStdio(inbox peer.Exchange, settings peer.Settings, own *peer.Peer) (int, func(), error) {
	server, err := createServer(inbox, settings)
	if err != nil {
		return 0, nil, err
	}
	received, sent := &countedPipe{File: os.Stdin}, &countedPipe{File: os.Stdout}
	own.CountWire = func() any {
		return map[string]any{"connections": 1, "sent": sent.read(), "received": received.read()}
	}
	var reader io.ReadCloser = received
	transport := &mcp.IOTransport{Reader: reader, Writer: sent, MaxLineLength: -1}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		own.End()
	}()
	go func() {
		_ = server.Run(context.Background(), transport)
		own.End()
	}()
	return 0, func() {}, nil
}

func connectStdio(ctx context.Context, address string, settings peer.Settings) (peer.Exchange, func(), error) {
	var program struct {
		Command string
		Args    []string
	}
	if err := json.Unmarshal([]byte(address), &program); err != nil {
		return nil, nil, err
	}
	command := exec.Command(program.Command, program.Args...)
	command.Stderr = os.Stderr
	return connect(ctx, &mcp.CommandTransport{Command: command}, settings)
}
