"""The settings of the assistant, which are read from environment variables (`OPENAI_MODEL` is `openai_model`)."""

import re

from pydantic import Field, ValidationInfo, field_validator

from docsite.setting_types import BaseUrl, ModelServerKey, Rate, Seconds
from search.env import SearchEnv


class AssistantEnv(SearchEnv):
    """Models, what they may cost, and running answers."""

    openai_model: str = "gpt-4o-mini"
    openai_fallback_model: str = ""
    openai_fallback_base_url: BaseUrl = ""
    openai_fallback_api_key: ModelServerKey = ""
    openai_judge_base_url: BaseUrl = ""
    openai_judge_model: str = ""
    openai_judge_api_key: ModelServerKey = ""
    openai_reasoning_effort: str = ""
    openai_max_tokens: int = Field(default=2048, ge=1)
    openai_passage_tokens: int = Field(default=6_000, ge=500)
    openai_first_token_seconds: Seconds = 20
    openai_between_tokens_seconds: Seconds = 20
    openai_answer_seconds: Seconds = 120
    daily_tokens_per_project: int = Field(default=50_000_000, ge=0)
    daily_percent_per_address: int = Field(default=20, ge=1, le=100)
    monthly_tokens_per_project: int | None = Field(default=None, ge=0)
    tokens_per_question: int = Field(default=40_000, ge=1_000)
    openai_input_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    openai_output_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    daily_cost_per_project: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    monthly_cost_per_project: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_running_answers: int = Field(default=1000, ge=1)
    max_running_answers_ip: int = Field(default=500, ge=1)
    max_running_answers_org: int = Field(default=1000, ge=1)
    resume_seconds: Seconds = 20
    limit_assistant_org: Rate = "10000/h"
    limit_assistant_ip: Rate = "10000/d"
    limit_support_ip: Rate = "10/h"

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

    @field_validator("daily_cost_per_project", "monthly_cost_per_project")
    @classmethod
    def _check_cost(cls, value: float | None, info: ValidationInfo) -> float | None:
        """Owners may set prices in any currency: a limit needs prices in the same one."""
        has_price = any(info.data.get(name) is not None for name in ("openai_input_price", "openai_output_price"))
        if value is not None and info.data.get("openai_base_url") and not has_price:
            raise ValueError("needs prices: set OPENAI_INPUT_PRICE and OPENAI_OUTPUT_PRICE, too")
        return value
