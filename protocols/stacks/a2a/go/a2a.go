// Package a2a has the two ends of the stacks of A2A, with the official SDK for Go.
package a2a

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"gaia-mesh/stacks/languages/go/peer"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// JSONRPC is A2A by JSON-RPC over HTTP.
var JSONRPC = peer.Stack{Serve: serveJSONRPC, Connect: connectJSONRPC}

// GRPC is A2A over gRPC. The client knows the agent's card by configuration, as the other languages' do.
var GRPC = peer.Stack{Serve: serveGRPC, Connect: connectGRPC}

const (
	path      = "/a2a/jsonrpc"
	extension = "urn:mesh:packet:v1"
)

func createCard(settings peer.Settings, url string, binding a2a.TransportProtocol) (*a2a.AgentCard, error) {
	card := &a2a.AgentCard{}
	if err := json.Unmarshal(settings.Card, card); err != nil {
		return nil, err
	}
	card.SupportedInterfaces = []*a2a.AgentInterface{a2a.NewAgentInterface(url, binding)}
	return card, nil
}

// toContent returns the payload as a part, and the rest of a packet as metadata of the extension.
func toContent(packet peer.Packet) (a2a.ContentParts, map[string]any, error) {
	encoded, err := json.Marshal(packet)
	if err != nil {
		return nil, nil, err
	}
	head := map[string]any{}
	if err := json.Unmarshal(encoded, &head); err != nil {
		return nil, nil, err
	}
	for _, key := range []string{"id", "task_id", "payload"} {
		delete(head, key)
	}
	part := a2a.NewDataPart(packet.Payload)
	part.MediaType = "application/json"
	return a2a.ContentParts{part}, map[string]any{extension: head}, nil
}

func toPacket(id, context string, parts a2a.ContentParts, metadata map[string]any) (peer.Packet, error) {
	packet := peer.Packet{}
	if len(parts) != 1 {
		return packet, fmt.Errorf("A2A: %s: expected one part, received %d", id, len(parts))
	}
	encoded, err := json.Marshal(metadata[extension])
	if err == nil {
		err = json.Unmarshal(encoded, &packet)
	}
	packet.ID, packet.TaskID, packet.Payload = id, context, parts[0].Data()
	return packet, err
}

type executor struct{ inbox peer.Exchange }

func (executor *executor) Execute(ctx context.Context, execution *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		message := execution.Message
		if !yield(a2a.NewSubmittedTask(execution, message), nil) || !yield(newStatus(execution, a2a.TaskStateWorking, nil), nil) {
			return
		}
		artifacts, err := executor.work(ctx, message)
		if err != nil {
			reason := a2a.NewMessageForTask(a2a.MessageRoleAgent, execution, a2a.NewTextPart(err.Error()))
			yield(newStatus(execution, a2a.TaskStateFailed, reason), nil)
			return
		}
		for _, artifact := range artifacts {
			event := a2a.NewArtifactEvent(execution)
			event.Artifact, event.LastChunk = artifact, true
			if !yield(event, nil) {
				return
			}
		}
		yield(newStatus(execution, a2a.TaskStateCompleted, nil), nil)
	}
}

// newStatus tells the time in whole seconds: fractions take more or fewer bytes, so that two runs would differ.
func newStatus(execution *a2asrv.ExecutorContext, state a2a.TaskState, message *a2a.Message) *a2a.TaskStatusUpdateEvent {
	event := a2a.NewStatusUpdateEvent(execution, state, message)
	now := time.Now().UTC().Truncate(time.Second)
	event.Status.Timestamp = &now
	return event
}

func (executor *executor) work(ctx context.Context, message *a2a.Message) ([]*a2a.Artifact, error) {
	packet, err := toPacket(message.ID, message.ContextID, message.Parts, message.Metadata)
	if err != nil {
		return nil, err
	}
	replies, err := executor.inbox(ctx, packet)
	if err != nil {
		return nil, err
	}
	artifacts := make([]*a2a.Artifact, len(replies))
	for i, reply := range replies {
		parts, metadata, err := toContent(reply)
		if err != nil {
			return nil, err
		}
		artifacts[i] = &a2a.Artifact{ID: a2a.ArtifactID(reply.ID), Parts: parts, Metadata: metadata, Extensions: []string{extension}}
	}
	return artifacts, nil
}

func (executor *executor) Cancel(_ context.Context, execution *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) { yield(newStatus(execution, a2a.TaskStateCanceled, nil), nil) }
}

func createExchange(client *a2aclient.Client) peer.Exchange {
	return func(ctx context.Context, packet peer.Packet) ([]peer.Packet, error) {
		parts, metadata, err := toContent(packet)
		if err != nil {
			return nil, err
		}
		message := a2a.NewMessage(a2a.MessageRoleUser, parts...)
		message.ID, message.ContextID, message.Metadata = packet.ID, packet.TaskID, metadata
		message.Extensions = []string{extension}
		request := &a2a.SendMessageRequest{Message: message}
		request.Config = &a2a.SendMessageConfig{HistoryLength: new(int)}
		ctx = a2aclient.AttachServiceParams(ctx, a2aclient.ServiceParams{strings.ToLower(a2a.SvcParamExtensions): {extension}})
		result, err := client.SendMessage(ctx, request)
		if err != nil {
			return nil, err
		}
		task, isTask := result.(*a2a.Task)
		if !isTask {
			return nil, fmt.Errorf("A2A: expected a task in answer to %s", packet.ID)
		}
		return readTask(task, packet.TaskID)
	}
}

func readTask(task *a2a.Task, contextID string) ([]peer.Packet, error) {
	if task.Status.State != a2a.TaskStateCompleted {
		text := ""
		if task.Status.Message != nil {
			for _, part := range task.Status.Message.Parts {
				text += part.Text()
			}
		}
		return nil, fmt.Errorf("A2A: task %s ended as %s: %s", task.ID, task.Status.State, text)
	}
	packets := make([]peer.Packet, len(task.Artifacts))
	for i, artifact := range task.Artifacts {
		packet, err := toPacket(string(artifact.ID), contextID, artifact.Parts, artifact.Metadata)
		if err != nil {
			return nil, err
		}
		packets[i] = packet
	}
	return packets, nil
}

func advertised(settings peer.Settings, port int) int {
	if settings.AdvertisedPort != 0 {
		return settings.AdvertisedPort
	}
	return port
}

func serveJSONRPC(inbox peer.Exchange, settings peer.Settings, _ *peer.Peer) (int, func(), error) {
	listener, port, err := peer.Listen()
	if err != nil {
		return 0, nil, err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d%s", advertised(settings, port), path)
	card, err := createCard(settings, url, a2a.TransportProtocolJSONRPC)
	if err != nil {
		return 0, nil, err
	}
	handler := http.NewServeMux()
	handler.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	handler.Handle(path, a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(&executor{inbox})))
	return port, peer.ServeHTTP(listener, handler, settings), nil
}

func connectJSONRPC(ctx context.Context, address string, settings peer.Settings) (peer.Exchange, func(), error) {
	http := peer.NewHTTPClient(settings)
	card, err := agentcard.NewResolver(http).Resolve(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	return connect(ctx, card, a2aclient.WithJSONRPCTransport(http), http.CloseIdleConnections)
}

func connect(
	ctx context.Context, card *a2a.AgentCard, transport a2aclient.FactoryOption, stop func(),
) (peer.Exchange, func(), error) {
	client, err := a2aclient.NewFromCard(ctx, card, transport)
	if err != nil {
		return nil, nil, err
	}
	return createExchange(client), func() {
		_ = client.Destroy()
		stop()
	}, nil
}

func serveGRPC(inbox peer.Exchange, settings peer.Settings, _ *peer.Peer) (int, func(), error) {
	listener, port, err := peer.Listen()
	if err != nil {
		return 0, nil, err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(settings.LargestBytes), grpc.MaxSendMsgSize(settings.LargestBytes))
	a2agrpc.NewHandler(a2asrv.NewHandler(&executor{inbox})).RegisterWith(server)
	go func() { _ = server.Serve(listener) }()
	return port, server.Stop, nil
}

func connectGRPC(ctx context.Context, address string, settings peer.Settings) (peer.Exchange, func(), error) {
	card, err := createCard(settings, strings.TrimPrefix(address, "grpc://"), a2a.TransportProtocolGRPC)
	if err != nil {
		return nil, nil, err
	}
	limits := grpc.WithDefaultCallOptions(
		grpc.MaxCallRecvMsgSize(settings.LargestBytes), grpc.MaxCallSendMsgSize(settings.LargestBytes),
	)
	transport := a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials()), limits)
	return connect(ctx, card, transport, func() {})
}
