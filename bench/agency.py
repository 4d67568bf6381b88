"""The workloads' agents as a Handon app: who does which errand, one tool, a model that is the script, and Mia."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from bench.script import TOKENS, Errand, Finding, calls_of, found
from handon import (
    Agency,
    Agent,
    Delegation,
    Guards,
    LlmModel,
    ModelAnswer,
    ModelCall,
    ModelRequest,
    Policies,
    Price,
    Skill,
    Specialist,
    has_role,
    query,
)

TURNS = 500  # more than any workload's longest conversation has


@query("Look something up")
def look_up(query: str) -> str:
    return found(query)


class Quick(Skill[Errand, Finding]):
    description = "Judge by what is known already."


class Check(Skill[Errand, Finding]):
    description = "Look it up once, then hand back what was found."
    tools = [look_up]


class Pair(Skill[Errand, Finding]):
    description = "Have it judged and checked, side by side."


class Split(Skill[Errand, Finding]):
    description = "Divide it, hand every part on, and sum up."


class Talk(Skill[Errand, Finding]):
    description = "Look up one thing after another."
    tools = [look_up]


class Judge(Agent):
    purpose = "You judge quickly."
    skills = [Quick()]


class Reader(Agent):
    purpose = "You look things up and read them closely."
    skills = [Check()]


class Lead(Agent):
    purpose = "You have everything looked at twice."
    skills = [Pair()]
    delegates = Delegation(to=[Specialist.of(Judge, Quick()), Specialist.of(Reader, Check())])


class Planner(Agent):
    purpose = "You divide work into parts."
    skills = [Split()]
    delegates = Delegation(to=[Specialist.helper(Split()), Specialist.of(Reader, Check())], max_depth=3, max_pieces=64)


class Talker(Agent):
    purpose = "You take your time."
    skills = [Talk()]
    guards = Guards(turns=TURNS)


SKILLS: dict[str, tuple[type[Agent], Skill[Errand, Finding]]] = {
    "pair": (Lead, Pair()),
    "split": (Planner, Split()),
    "talk": (Talker, Talk()),
}


class Script:
    """A model's client that answers at once."""

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        await asyncio.sleep(0)
        self.asked += 1
        turn = (len(request.messages) - 2) // 2  # the system's words and the brief, then two for each turn
        calls = calls_of(request.messages[1].text, turn)
        return ModelAnswer("", tuple(ModelCall(None, name, arguments) for name, arguments in calls), *TOKENS)


def open_agency(url: str, script: Script) -> Agency:
    """The agency on the database of that URL, with money enough for every workload."""
    binder = has_role("binder")
    return Agency(
        agents=[Judge(), Reader(), Lead(), Planner(), Talker()],
        models=[LlmModel("Everyday", "scripted", script, Price(input=1, output=5), max_output_tokens=1000)],
        default_model="Everyday",
        policies=Policies(
            uses_agents=binder,
            supervises_agents=binder,
            audits_agents=binder,
            reads_model_usage=binder,
            manages_model_spend=binder,
        ),
        task_budget=Decimal(1000),
        database=url,
    )
