"""python3 examples/frameworks/smolagents_agent.py PORT NODE_ID: a smolagents agent as a member of a team."""

import os
import sys

from gaia_mesh import Agent, Packet
from smolagents import OpenAIModel, ToolCallingAgent, tool

model = OpenAIModel(
    model_id=os.environ["OPENAI_MODEL"],
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    max_tokens=64,
    temperature=0,
)
text = ""


@tool
def read_document() -> str:
    """Returns the text of the document."""
    return text


agent = Agent(tool="reason", subscribes=["doc_init"], emits=["data_event"])


@agent.on("doc_init")
def answer(packet: Packet) -> Packet:
    global text
    text = "".join(packet.payload["chunks"])
    solver = ToolCallingAgent(tools=[read_document], model=model, max_steps=1, verbosity_level=0)
    run = solver.run(f"{text}\n\n{packet.payload['question']}", return_full_result=True)
    tokens = run.token_usage.total_tokens if run.token_usage else 0
    return packet.final_answer(str(run.output), token_used=tokens)


agent.serve(port=int(sys.argv[1]), node=sys.argv[2])
