"""The language of a page: what it says itself, its generator's setting, a folder, else its text."""

import pytest

from assistant.answering.question import Question
from assistant.answering.quoting.extractive import answer
from assistant.citations.link_checker import CitationChecker
from assistant.wire.events import Text
from search.hits import Hit
from search.sources import Draft, Page
from search.sources.registry import read
from search.sources.request import SourceRequest
from search.text.language import detect_page_language
from tests.variants import first_of

TEXTS = {
    "en": "The worker takes a job from the queue and keeps it for an hour. You can change that in the settings of "
          "your project, or when you start it.",
    "de": "Der Arbeiter nimmt einen Auftrag aus der Schlange und behält ihn eine Stunde. Das lässt sich in den "
          "Einstellungen des Projekts ändern, oder wenn man ihn startet.",
    "fr": "Le service prend une tâche dans la file et la garde pendant une heure. Vous pouvez le changer dans les "
          "paramètres du projet, ou quand vous le lancez.",
    "es": "El servicio toma una tarea de la cola y la guarda durante una hora. Se puede cambiar en los ajustes del "
          "proyecto, o cuando se inicia con otro plazo.",
    "pt": "O serviço tira uma tarefa da fila e guarda essa tarefa por uma hora. Você pode mudar isso na configuração "
          "do projeto, ou quando o inicia com um outro prazo.",
    "ru": "Служба берёт задачу из очереди и хранит её в течение часа. Это можно изменить в настройках проекта или "
          "при запуске, если это нужно для вас.",
    "uk": "Служба бере завдання з черги і зберігає його протягом години. Це можна змінити в налаштуваннях проєкту "
          "або під час запуску, якщо ви не хочете чекати на це.",
    "pl": "Usługa pobiera zadanie z kolejki i przechowuje je przez godzinę. Można to zmienić w ustawieniach projektu "
          "lub przy starcie, jeśli nie jest to odpowiednie dla wszystkich zadań, które są w kolejce.",
    "ja": "ワーカーはキューから仕事を取り出し、一時間保持します。この設定はプロジェクトで変更できます。",
    "zh": "工作进程从队列中取出任务，并保留一小时。您可以在项目设置中更改它。",
    "ko": "작업자는 대기열에서 작업을 가져와 한 시간 동안 보관합니다. 프로젝트 설정에서 변경할 수 있습니다.",
    "th": "ตัวทำงานรับงานจากคิวและเก็บไว้หนึ่งชั่วโมง คุณเปลี่ยนได้ในการตั้งค่าโครงการ",
    "fa": "این سرویس یک کار را از صف می‌گیرد و آن را برای یک ساعت نگه می‌دارد. این را در تنظیمات تغییر دهید.",
    "ar": "تأخذ الخدمة مهمة من قائمة الانتظار وتحتفظ بها لمدة ساعة. يمكن تغيير هذا في إعدادات المشروع "
          "أو عن طريق الأمر، ولا يمكن هذا في كل من هذه.",
}  # fmt: skip
UNSURE = {
    "code alone": "```sh\nfor the in of and to is that it; do for with; done\n```",
    "few words": "# Setup\n\nThe setup of it.",
    "names of languages": "| a | b |\n|---|---|\n| 日本語 | Deutsch |\n| English | Kurzform |\n| Other | 한국어 |",
    "two languages": f"{TEXTS['de']}\n\n{TEXTS['en']}",
    "a list of settings": "# Settings\n\n- `a`: text\n- `b`: number\n- `c`: flag\n\nTimeout seconds maximum default.",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items(), ids=TEXTS)
def test_a_page_without_a_language_has_that_of_its_text(language, text):
    assert detect_page_language(f"# Acme 2.0\n\n```sh\nacme run the queue for you\n```\n\n{text}") == language


@pytest.mark.parametrize("text", UNSURE.values(), ids=UNSURE)
def test_a_page_that_does_not_show_its_language_has_none(text):
    assert detect_page_language(text) == ""


LOCALES = "{ root: { label: 'English', lang: 'en-GB' }, de: { label: 'Deutsch' } }"
STARLIGHT = "import { %s } from './locales.mjs';\nexport default defineConfig({ integrations: [starlight({ %s })] })"
I18N = (
    "plugins:\n- i18n:\n    docs_structure: %s\n    languages:\n    - {locale: de}\n    - {locale: en, default: true}\n"
)
DOCS = "src/content/docs"
SITES = {
    "front matter": ({"a.md": f"---\nlanguage: nl\n---\n{TEXTS['de']}"}, {"/a": "nl"}),
    "front matter with another name": ({"a.md": f"---\nlang: pt-BR\n---\n{TEXTS['de']}"}, {"/a": "pt-BR"}),
    "front matter with an underscore": ({"a.md": "---\nlanguage: pt_BR\n---\nx", "b.md": "---\nlocale: pt_BR\n---\nx"},
                                        {"/a": "pt-BR", "/b": "pt-BR"}),
    "a lang that is no language": ({"a.md": f"---\nlang: python\n---\n{TEXTS['de']}"}, {"/a": "de"}),
    "a folder": ({"docs/pt-br/a.md": "Texto", "de/b.md": TEXTS["de"]}, {"/docs/pt-br/a": "pt-br", "/de/b": "de"}),
    "a folder that means something else": ({"it/a.md": TEXTS["en"], "go/a.md": "Text"}, {"/it/a": "en", "/go/a": ""}),
    "an inner folder that means something else": ({"sdk/cs/a.md": "Text", "api/id/b.md": "Text"},
                                                  {"/sdk/cs/a": "", "/api/id/b": ""}),
    "a folder of two words": ({"no-code/a.md": "Text", "it-admin/b.md": "Text", "zh-Hans/c.md": "x"},
                              {"/no-code/a": "", "/it-admin/b": "", "/zh-Hans/c": "zh-Hans"}),
    "a folder with an underscore": ({"pt_BR/a.md": "x"}, {"/pt_BR/a": "pt-BR"}),
    "a file is no folder": ({"de.md": "Text", "a/b/c/de/f.md": "Text"}, {"/de": "", "/a/b/c/de/f": ""}),
    "mkdocs": ({"mkdocs.yml": "theme: {name: material, language: fr}", "docs/a.md": "x"}, {"/a": "fr"}),
    "mkdocs with endings": ({"mkdocs.yml": I18N % "suffix", "docs/a.md": "x", "docs/a.de.md": "x"},
                            {"/a": "en", "/de/a": "de"}),
    "mkdocs with folders": ({"mkdocs.yml": I18N % "folder", "docs/en/a.md": "x", "docs/de/a.md": "x"},
                            {"/a": "en", "/de/a": "de"}),
    "mdbook": ({"book.toml": "[book]\nlanguage = 'zh-TW'", "src/a.md": "x"}, {"/a": "zh-TW"}),
    "jekyll": ({"_config.yml": "theme: x\nlocale: it", "a.md": "x"}, {"/a": "it"}),
    "hugo": ({"hugo.toml": "languageCode = 'de-at'", "content/a.md": "x"}, {"/a": "de-at"}),
    "docusaurus": ({"docusaurus.config.js": "i18n: { defaultLocale: 'ja', locales: ['ja', 'en'] }", "docs/a.md": "x",
                    "i18n/en/docusaurus-plugin-content-docs/current/a.md": "x"}, {"/docs/a": "ja", "/en/docs/a": "en"}),
    "vitepress": ({".vitepress/config.ts": "export default { lang: 'ko', locales: { en: { lang: 'en-US' } } }",
                   "a.md": "x", "en/a.md": "x"}, {"/a": "ko", "/en/a": "en-US"}),
    "vitepress with an imported default": (
        {".vitepress/config.js": "import locales from './locales'\nexport default { locales, themeConfig: { a: [] } }",
         ".vitepress/locales.js": f"export default {LOCALES}", "a.md": "x", "de/a.md": "x"},
        {"/a": "en-GB", "/de/a": "de"}),
    "hugo with an underscore": ({"hugo.toml": "languageCode = 'pt_BR'", "content/a.md": "x"}, {"/a": "pt-BR"}),
    "starlight": ({"astro.config.mjs": f"starlight({{ locales: {LOCALES} }})", f"{DOCS}/a.md": "x",
                   f"{DOCS}/de/a.md": "x"}, {"/a": "en-GB", "/de/a": "de"}),
    "starlight with a constant": ({"astro.config.mjs": f"const all = {LOCALES}; starlight({{ locales: all }})",
                                   f"{DOCS}/a.md": "x", f"{DOCS}/de/a.md": "x"}, {"/a": "en-GB", "/de/a": "de"}),
    "starlight with an imported constant": ({"astro.config.mjs": STARLIGHT % ("locales", "title: 'x', locales"),
                                             "locales.mjs": f"export const locales = {LOCALES}", f"{DOCS}/a.md": "x",
                                             f"{DOCS}/de/a.md": "x"}, {"/a": "en-GB", "/de/a": "de"}),
    "starlight with an imported default": ({"astro.config.mjs": "import all from './i18n'\nstarlight({ locales: all })",
                                            "i18n.ts": f"export default {LOCALES}", f"{DOCS}/a.md": "x",
                                            f"{DOCS}/de/a.md": "x"}, {"/a": "en-GB", "/de/a": "de"}),
    "starlight with imported JSON": ({"astro.config.mjs": "import all from './i18n.json'\nstarlight({ locales: all, })",
                                      "i18n.json": '{"root": {"lang": "en-GB"}, "de": {"lang": "de"}}',
                                      f"{DOCS}/a.md": "x", f"{DOCS}/de/a.md": "x"}, {"/a": "en-GB", "/de/a": "de"}),
    "starlight with the base of something else": (
        {"astro.config.mjs": "export default defineConfig({ integrations: [starlight({ locales: "
         f"{LOCALES}, plugins: [blog({{ base: 'news' }})] }})] }})", f"{DOCS}/a.md": "x", f"{DOCS}/de/a.md": "x"},
        {"/a": "en-GB", "/de/a": "de"}),
    "starlight with a base": (
        {"astro.config.mjs": f"export default {{ x: [starlight({{ locales: {LOCALES} }})], base: '/v2/docs' }}",
         f"{DOCS}/a.md": "x", f"{DOCS}/de/a.md": "x"}, {"/v2/docs/a": "en-GB", "/v2/docs/de/a": "de"}),
    "starlight with a base of a constant": (
        {"astro.config.mjs": "import { x } from 'y'\nconst config = { base: '/v2', integrations: [starlight()] }\n"
         "export default config", f"{DOCS}/a.md": "x"}, {"/v2/a": ""}),
    "starlight with a base of a function": (
        {"astro.config.mjs": "export default defineConfig(() => { return { base: '/v2', x: [starlight()] } })",
         f"{DOCS}/a.md": "x"}, {"/v2/a": ""}),
    "starlight in CommonJS with a base": (
        {"astro.config.cjs": "let { x } = y\nmodule.exports = { x: [starlight({ base: 'z' })], base: '/v2' }",
         f"{DOCS}/a.md": "x"}, {"/v2/a": ""}),
    "hugo with a file for each language": (
        {"config/_default/hugo.toml": "baseURL = '/'", "config/_default/languages.de.toml": "contentDir = 'content/de'",
         "config/production/languages.fr.toml": "contentDir = 'content/fr'", "content/de/a.md": "x",
         "content/fr/a.md": "x"}, {"/de/a": "de", "/fr/a": "fr"}),
    "no language beside translations": ({"astro.config.mjs": "starlight({ locales: { fr: { lang: 'fr' } } })",
                                         f"{DOCS}/a.md": TEXTS["en"], f"{DOCS}/fr/a.md": "x"},
                                        {"/a": "en", "/fr/a": "fr"}),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), first_of(SITES.values(), 12, ids=SITES))
def test_a_generators_setting_comes_before_the_text(write, files, expected):
    items = read(SourceRequest(str(write(files)), "https://acme.example/"))
    pages = [item.build() if isinstance(item, Draft) else item for item in items]
    assert {page.path: page.language for page in pages if isinstance(page, Page)} == expected


@pytest.mark.parametrize(
    ("language", "text", "sentence"),
    [
        ("", TEXTS["de"], ""),
        ("", TEXTS["en"], "Die Dokumentation ist auf Englisch."),
        ("", "`a` b", ""),
        ("en", "`a` b", "Die Dokumentation ist auf Englisch."),
        ("th", TEXTS["th"], ""),
    ],
)
def test_the_language_of_the_documentation_is_named_only_where_it_is_known(language, text, sentence):
    hit = Hit("/a", "https://acme.example/a", "A", "", (), text, "", 0.9, text=text, language=language)
    question = Question("Wie lange ist der Auftrag in der Schlange?")
    events = answer(question, "Auftrag", CitationChecker([hit]), [hit], "extractive")
    first = next(event.delta for event in events if isinstance(event, Text))
    assert first.startswith(sentence or "**A**")
