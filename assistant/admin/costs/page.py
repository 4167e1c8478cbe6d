"""The page "Costs": what the models have cost, the prices of models, and the limits in money."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html

from assistant.admin.costs.forms import LimitsForm, PriceForm, set_price
from assistant.admin.costs.known_prices import KnownPrice, load_table
from assistant.models import AssistantSettings, BudgetNotice, ModelPrice
from assistant.spending import cost_report
from assistant.spending.budget import find_reached, list_limits, today_utc
from assistant.spending.model_prices import find_operator_price, to_price
from assistant.spending.prices import Price
from assistant.upstream.model_choice import judge_model, list_models
from docsite.core.http.dates import first_of_month
from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.roles import has_role
from docsite.core.workspace import extensions, navigation

KEY = "costs"
DAYS, MONTHS = 31, 13  # that the page lists


@dataclass(frozen=True)
class ModelRow:
    """A model with its price and the published one, if there are such. `is_used`: the project would ask it now."""

    name: str
    price: Price | None
    known: KnownPrice | None
    is_used: bool


def show_costs(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the costs; set limits and prices."""
    posted = request.POST if request.method == "POST" else {}
    limits_form = LimitsForm(project, posted if "limits" in posted else None)
    price_form = PriceForm(project, posted if "set" in posted else None)
    if request.method == "POST" and _act(request, project, limits_form, price_form):
        return HttpResponseRedirect(request.path)
    today = today_utc()
    days_from, months_from = today - timedelta(days=DAYS - 1), first_of_month(today, MONTHS - 1)
    tomorrow = today + timedelta(days=1)
    days = cost_report.list_costs(project, days_from, tomorrow, "day")
    months = cost_report.list_costs(project, months_from, tomorrow, "month")
    this_month = [month for month in months if month.start == today.replace(day=1)]
    models = _list_models(project)
    context = {
        "today": cost_report.sum_up([day for day in days if day.start == today], today),
        "month": cost_report.sum_up(this_month, today.replace(day=1)),
        "average": cost_report.average_cost(project, datetime.combine(days_from, time(), UTC), datetime.now(UTC)),
        "days": days[::-1],
        "day_number": DAYS,
        "months": months[::-1],
        "limits": [limit for limit in list_limits(project) if limit.field == "cost"],
        "models": models,
        "without_price": [model.name for model in models if model.is_used and model.price is None],
        "operator_price": find_operator_price(),
        "table": load_table(),
        "limits_form": limits_form,
        "price_form": price_form,
        "may_act": has_role(request, project.organization_id, Role.OWNER),
    }
    wrong = limits_form.errors or price_form.errors
    return navigation.render(request, "admin/assistant/costs/page.html", project, "Costs", context, wrong=wrong)


def _act(request: HttpRequest, project: Project, limits_form: LimitsForm, price_form: PriceForm) -> bool:
    """Do what a button asks for. Returns whether it is done; otherwise a form has errors."""
    if "limits" in request.POST:
        if limits_form.is_valid():
            limits_form.save()
            messages.success(request, "The limits are saved. They hold from the next question on.")
        return limits_form.is_valid()
    if find_operator_price():
        raise BadRequest("The operator of this service has set the prices.")
    if "set" in request.POST:
        if price_form.is_valid():
            price_form.save()
            messages.success(request, "The price is saved. It holds for answers from now on.")
        return price_form.is_valid()
    if known := load_table().prices.get(request.POST.get("use", "")):
        set_price(project, known.model, known.price)
        messages.success(request, f"{known.model} has the published price. It holds for answers from now on.")
    for price in ModelPrice.objects.filter(project=project, model=request.POST.get("remove", "")):
        price.delete()
        messages.success(request, f"{price.model} has no price any more. What it has cost stays.")
    return True


def _list_models(project: Project) -> list[ModelRow]:
    """The models that the project asks, then the others that have a price."""
    judge = judge_model(project)
    used = [*list_models(AssistantSettings.for_project(project)), *([judge] if judge else [])]
    known = load_table().prices
    rows = {model.name: ModelRow(model.name, model.price, known.get(model.name), True) for model in used}
    if not find_operator_price():
        for row in ModelPrice.objects.filter(project=project).exclude(model__in=rows).order_by("model"):
            rows[row.model] = ModelRow(row.model, to_price(row), known.get(row.model), False)
    return list(rows.values())


def find_notice(request: HttpRequest, project: Project) -> str:
    """Say above every page of the project that a limit is reached, and until when."""
    reached = find_reached(project)
    if not reached:
        return ""
    notice = reached[-1]
    if notice.period == BudgetNotice.Period.DAILY:
        end = notice.starts_on + timedelta(days=1)
    else:
        end = first_of_month(notice.starts_on + timedelta(days=31))
    return format_html(
        "{} Until {} 00:00 UTC, answers are quoted from the documentation, without the model. "
        '<a href="{}">Limits and costs</a>',
        notice,
        f"{end:%Y-%m-%d}",
        navigation.page_url(KEY, project),
    )


navigation.add_page(
    KEY, "Costs", group="Operation", position=92, views=[("", show_costs, "")], reads=Role.VIEWER, acts=Role.OWNER
)
extensions.add_notice(find_notice)
