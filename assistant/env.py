"""The environment variables of the assistant."""

import re

from pydantic import Field, ValidationInfo, field_validator

from docsite.setting_types import BaseUrl, ModelServerKey, Rate, Seconds
from search.env import SearchEnv


class AssistantEnv(SearchEnv):
    """Models, what they may cost, and running answers."""

    openai_model: str = Field(default="gpt-4o-mini", description="Model name sent to the model server.")
    openai_fallback_model: str = Field(
        default="", description="Model that is asked when the first model fails before its first word. Empty: none."
    )
    openai_fallback_base_url: BaseUrl = Field(
        default="", description="Base address of the server of the fallback model. Empty: `OPENAI_BASE_URL`."
    )
    openai_fallback_api_key: ModelServerKey = Field(
        default="",
        description="Key sent to the server of the fallback model. Empty: `OPENAI_API_KEY` on the same server, none "
        "on another.",
    )
    openai_judge_base_url: BaseUrl = Field(
        default="", description="Base address of the server of the judge. Empty: `OPENAI_BASE_URL`."
    )
    openai_judge_model: str = Field(
        default="", description="Model that judges answers in `manage golden --evaluate`. Empty: none."
    )
    openai_judge_api_key: ModelServerKey = Field(
        default="",
        description="Key sent to the server of the judge. Empty: `OPENAI_API_KEY` on the same server, none on another.",
    )
    openai_reasoning_effort: str = Field(
        default="",
        description="How much a model thinks before it answers: `low`, `medium` or `high`; some servers also know "
        "`none`, `minimal` or `xhigh`. Empty: the server's default.",
    )
    openai_max_tokens: int = Field(
        default=2048, ge=1, description="Maximum number of tokens that a model may write for one answer."
    )
    openai_passage_tokens: int = Field(
        default=6_000,
        ge=500,
        description="Maximum tokens of the passages that a model gets with a question. "
        "Passages are best first, then the sections beside them. Further searches of a model may add as many.",
    )
    openai_first_token_seconds: Seconds = Field(
        default=20, description="Maximum time until the first word of an answer."
    )
    openai_between_tokens_seconds: Seconds = Field(
        default=20, description="Maximum time between two words of an answer."
    )
    openai_answer_seconds: Seconds = Field(default=120, description="Maximum time for a whole answer.")
    daily_tokens_per_project: int = Field(
        default=50_000_000,
        ge=0,
        description="Tokens of model servers that a project may use in a day (UTC). After that, answers are quoted "
        "from the documentation.",
    )
    daily_percent_per_address: int = Field(
        default=20,
        ge=1,
        le=100,
        description="Share of the daily tokens and the daily cost of a project that one client address may use, in "
        "percent. The first question of an address on a day is never refused for this share.",
    )
    monthly_tokens_per_project: int | None = Field(
        default=None,
        ge=0,
        description="Tokens of model servers that a project may use in a calendar month (UTC). Empty: no limit.",
    )
    tokens_per_question: int = Field(
        default=40_000,
        ge=1_000,
        description="Tokens that one question may use in all its requests to a model. A longer question is answered "
        "with quotes, and a model gets no further search that would exceed it.",
    )
    openai_input_price: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Price of a million tokens that a model reads, in any currency. If you set it or "
        "`OPENAI_OUTPUT_PRICE`, both hold for every model, and owners cannot set other prices. Empty: owners set "
        "the prices of each model.",
    )
    openai_output_price: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Price of a million tokens that a model writes. With two models: the prices of the dearer one.",
    )
    daily_cost_per_project: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Money that a project may spend in a day (UTC), in the currency of the prices. Empty: no limit.",
    )
    monthly_cost_per_project: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description="Money that a project may spend in a calendar month (UTC). Empty: no limit.",
    )
    max_running_answers: int = Field(
        default=1000,
        ge=1,
        description="Number of answers that may run at once in a process. Further questions get 503.",
    )
    max_running_answers_ip: int = Field(
        default=500,
        ge=1,
        description="Number of running answers that one client address may have in a process, and also the "
        "number of its open sockets.",
    )
    max_running_answers_org: int = Field(
        default=1000, ge=1, description="Number of answers that may run at once in a process for one organization."
    )
    resume_seconds: Seconds = Field(
        default=20,
        description="How long a resumable answer runs on after its reader has left, "
        "and how long after its end it can be resumed.",
    )
    limit_assistant_org: Rate = Field(default="10000/h", description="Questions per organization.")
    limit_assistant_ip: Rate = Field(default="10000/d", description="Questions per client address.")
    limit_support_ip: Rate = Field(default="10/h", description="Requests to a person from one client.")

    @field_validator("openai_reasoning_effort")
    @classmethod
    def _check_effort(cls, value: str) -> str:
        if not re.fullmatch("[a-z]{0,20}", value):
            raise ValueError("write one word in small letters, such as low")
        return value

    @field_validator("openai_fallback_model")
    @classmethod
    def _check_fallback_model(cls, value: str, info: ValidationInfo) -> str:
        if value and not info.data.get("openai_base_url"):
            raise ValueError("needs a first model: set OPENAI_BASE_URL, too")
        return value

    @field_validator("openai_judge_model")
    @classmethod
    def _check_judge_model(cls, value: str, info: ValidationInfo) -> str:
        if value and not (info.data.get("openai_base_url") or info.data.get("openai_judge_base_url")):
            raise ValueError("needs a server: set OPENAI_JUDGE_BASE_URL or OPENAI_BASE_URL, too")
        return value
