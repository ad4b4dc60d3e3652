"""python3 examples/frameworks/autogen_agent.py PORT NODE_ID: an AutoGen agent as a member of a team."""

import asyncio
import os
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from gaia_mesh import Agent, Packet

# AutoGen knows the abilities of OpenAI's models alone, and has to be told those of others.
ABILITIES = {
    "vision": False,
    "function_calling": False,
    "json_output": False,
    "structured_output": False,
    "family": ModelFamily.UNKNOWN,
}


async def ask(question: str, text: str) -> tuple[str, int]:
    client = OpenAIChatCompletionClient(
        model=os.environ["OPENAI_MODEL"],
        base_url=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        model_info=ABILITIES,
        temperature=0,
        max_tokens=64,
    )
    reader = AssistantAgent("reader", client, system_message="Answer the question from the text in a few words.")
    result = await reader.run(task=f"{text}\n\n{question}")
    used = [message.models_usage for message in result.messages if message.models_usage]
    await client.close()
    return result.messages[-1].to_text(), sum(one.prompt_tokens + one.completion_tokens for one in used)


agent = Agent(tool="reason", subscribes=["doc_init"], emits=["data_event"])


@agent.on("doc_init")
def answer(packet: Packet) -> Packet:
    text, tokens = asyncio.run(ask(packet.payload["question"], "".join(packet.payload["chunks"])))
    return packet.final_answer(text, token_used=tokens)


agent.serve(port=int(sys.argv[1]), node=sys.argv[2])
