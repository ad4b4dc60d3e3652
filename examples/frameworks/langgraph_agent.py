"""python3 examples/frameworks/langgraph_agent.py PORT NODE_ID: a LangGraph agent as a member of a team."""

import os
import sys
from typing import TypedDict

from gaia_mesh import Agent, Packet
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

# The address and the key are OPENAI_BASE_URL and OPENAI_API_KEY: gaia-mesh model serve FILE prints them.
model = ChatOpenAI(model=os.environ["OPENAI_MODEL"], temperature=0, max_completion_tokens=64)


class State(TypedDict):
    question: str
    text: str
    evidence: str
    answer: str
    tokens: int


def ask(state: State, prompt: str) -> tuple[str, int]:
    reply = model.invoke(prompt)
    return str(reply.content).strip(), state["tokens"] + (reply.usage_metadata or {}).get("total_tokens", 0)


def find(state: State) -> dict:
    prompt = f"{state['text']}\n\nQuote the sentence that answers: {state['question']}"
    evidence, tokens = ask(state, prompt)
    return {"evidence": evidence, "tokens": tokens}


def conclude(state: State) -> dict:
    prompt = f"{state['evidence']}\n\nAnswer in a few words: {state['question']}"
    answer, tokens = ask(state, prompt)
    return {"answer": answer, "tokens": tokens}


graph = StateGraph(State)
graph.add_node("find", find)
graph.add_node("conclude", conclude)
graph.add_edge(START, "find")
graph.add_edge("find", "conclude")
graph.add_edge("conclude", END)
app = graph.compile()

agent = Agent(tool="reason", subscribes=["doc_init"], emits=["data_event"])


@agent.on("doc_init")
def answer(packet: Packet) -> Packet:
    question, text = packet.payload["question"], "".join(packet.payload["chunks"])
    end = app.invoke({"question": question, "text": text, "evidence": "", "answer": "", "tokens": 0})
    return packet.final_answer(end["answer"] or "unknown", token_used=end["tokens"])


agent.serve(port=int(sys.argv[1]), node=sys.argv[2])
