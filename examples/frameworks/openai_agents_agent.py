"""python3 examples/frameworks/openai_agents_agent.py PORT NODE_ID: an agent of the OpenAI Agents SDK as a member of a team."""

import asyncio
import os
import sys

import agents
from gaia_mesh import Agent, Packet
from openai import AsyncOpenAI

agents.set_tracing_disabled(True)
# The address and the key are OPENAI_BASE_URL and OPENAI_API_KEY: gaia-mesh model serve FILE prints them.
model = agents.OpenAIChatCompletionsModel(model=os.environ["OPENAI_MODEL"], openai_client=AsyncOpenAI())
settings = agents.ModelSettings(temperature=0, max_tokens=64)
reader = agents.Agent(
    name="reader",
    instructions="Answer the question from the text in a few words.",
    model=model,
    model_settings=settings,
)

agent = Agent(tool="reason", subscribes=["doc_init"], emits=["data_event"])


@agent.on("doc_init")
def answer(packet: Packet) -> Packet:
    text = "".join(packet.payload["chunks"])
    result = asyncio.run(agents.Runner.run(reader, f"{text}\n\n{packet.payload['question']}"))
    tokens = result.context_wrapper.usage.total_tokens
    return packet.final_answer(str(result.final_output), token_used=tokens)


agent.serve(port=int(sys.argv[1]), node=sys.argv[2])
